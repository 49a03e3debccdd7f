/* Removes what is older, or more, than the configuration lets be kept. */
#ifndef FT_RETENTION_H
#define FT_RETENTION_H

#include "app/app.h"

typedef struct ft_retention ft_retention;

/* Looks at once, then every retain-check-ms. NULL: everything is kept. The store must outlive it.
 */
ft_retention *ft_retention_new(const ft_app *app);
void ft_retention_free(ft_retention *retention); /* accepts NULL; gone with the loop's next turns */

#endif

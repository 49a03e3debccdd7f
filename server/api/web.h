/* The dashboard: the files of its folder, read into memory once, when the server starts.
 *
 * A request's path is only ever compared with the names found then: no path of a client reaches the
 * file system. Symbolic links, hidden files and names with anything but letters, digits, '.', '_'
 * and '-' are left out. */
#ifndef FT_API_WEB_H
#define FT_API_WEB_H

#include "http/http.h"

#define FT_WEB_DEPTH      4 /* folders */
#define FT_WEB_FILES      1024
#define FT_WEB_BYTES_FILE (8u << 20)
#define FT_WEB_BYTES      (32u << 20)

typedef struct ft_web ft_web;

/* root "": ../share/foretell/web beside this program. NULL: no dashboard is there, or it
 * passes a limit above; the log says which. */
ft_web *ft_web_open(const char *root);
void ft_web_free(ft_web *web); /* accepts NULL */

/* Answers GET of a file of the dashboard; false: the path is none, nothing was answered. */
bool ft_web_serve(const ft_web *web, ft_http_request *request);
/* Answers with the page that every address of the dashboard begins with; without a dashboard with a
 * page that says so. */
void ft_web_serve_index(const ft_web *web, ft_http_request *request);

#endif

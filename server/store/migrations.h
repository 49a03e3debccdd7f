/* The schema's migrations, generated from schema/migrations: numbered, each with its two dialects
 * side by side. The schema's version is the number of the last one that was applied. */
#ifndef FT_STORE_MIGRATIONS_H
#define FT_STORE_MIGRATIONS_H

#include <stdint.h>

#include "base/status.h"

/* For SQLite from 1 on, NULL-ended. */
extern const char *const ft_migrations[];
/* For PostgreSQL, NULL-ended: the first one makes the schema of FT_POSTGRES_FIRST at once. */
extern const char *const ft_postgres_migrations[];
#define FT_POSTGRES_FIRST 8

/* The version that this program writes. */
int ft_migration_count(void);
/* Added to the version of a store that is being moved there (move.h): no daemon opens it. */
#define FT_MIGRATION_MOVING 1000000
/* FT_UNSUPPORTED: the database is newer than this program. */
ft_status ft_migration_refused(int64_t version, ft_error *err);

#endif

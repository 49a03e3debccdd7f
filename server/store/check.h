/* Whether a database is sound: SQLite's own checks, and what the store relies on beyond them. */
#ifndef FT_STORE_CHECK_H
#define FT_STORE_CHECK_H

#include "store/sql.h"

/* A database file of this program's schema (FT_NOT_FOUND, FT_UNSUPPORTED), all of it. FT_IO with
 * the first thing that is wrong: a damaged page or index, a row that refers to none, a finished
 * subproblem without its one verdict, a job whose counts do not add up, a trace whose bytes are not
 * all there. */
ft_status ft_store_check_file(const char *file, ft_error *err) FT_MUST_CHECK;

/* FT_UNSUPPORTED: the schema is another one than this program's. `file` is for the message. */
ft_status ft_store_check_version(ft_sql *sql, const char *file, ft_error *err) FT_MUST_CHECK;

/* The part of it that a crash can have touched: the jobs that have not ended. What it reads does
 * not grow with what has. `file` is for the message. FT_IO. */
ft_status ft_store_check_in_flight(ft_sql *sql, const char *file, ft_error *err) FT_MUST_CHECK;

#endif

/* Access control: the token of a request, and its scopes and projects.
 *
 * Until a token exists, a daemon on loopback or a Unix socket serves every request. From then on,
 * also if all tokens are revoked, each request needs one. The table of tokens is read again at the
 * first request after a token command, and every second. */
#ifndef FT_API_ACCESS_H
#define FT_API_ACCESS_H

#include "api/internal.h"
#include "store/access.h"

typedef struct ft_access_table ft_access_table;

/* The rights of a request; all rights while no token exists. */
typedef struct ft_access {
    char token[FT_TOKEN_ID + 1]; /* its id; "": no token */
    unsigned scopes;
    uint64_t max_upload; /* bytes as sent; 0: the server's limit */
    bool all_projects;
    char projects[FT_PROJECTS_LENGTH]; /* ",a,b," */
} ft_access;

/* Reads the tokens, blocking. `public`: the daemon listens where strangers may come from, so that
 * it needs a token to start (FT_USAGE). api must outlive the table. */
ft_status ft_access_open(ft_api *api, bool is_public, ft_access_table **table,
                         ft_error *err) FT_MUST_CHECK;
void ft_access_close(ft_access_table *table); /* accepts NULL; frees it once its timer has closed */

/* Whether the request may go on; if not, 401, 403 or 429 was answered. */
bool ft_access_check(ft_access_table *table, ft_http_request *request, ft_route_needs needs);
/* Of a request that ft_access_check let pass. */
const ft_access *ft_access_of(ft_http_request *request);
/* Its projects ",a,b,"; NULL: every one. */
const char *ft_access_projects(ft_http_request *request);

/* The project of a new trace or job: the wanted one (NULL: not named), else the token's only
 * project, else the default. False: the request was answered with a 403 or 422. */
bool ft_access_project(ft_http_request *request, const char *wanted,
                       char project[FT_PROJECT_LENGTH + 1]);

/* Adds the request to the audit log; outcome: "allowed" or the code of its refusal. */
void ft_access_audit(ft_api *api, ft_http_request *request, const char *outcome);

#endif

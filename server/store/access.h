/* Who may do what: scopes, projects, tokens.
 *
 * A token is "foretell_<id>_<secret>": the id finds its row, 32 random bytes are the secret. The
 * row has the SHA-256 of the whole. A slow hash is for secrets that people think up: nobody can try
 * 2^256, and a fast hash keeps a flood of wrong tokens from costing anything. */
#ifndef FT_STORE_ACCESS_H
#define FT_STORE_ACCESS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

/*  symbol  name      bit  what it allows */
#define FT_SCOPE_TABLE(X)                                                                          \
    X(READ, "read", 1, "jobs, findings, traces, workers and metrics can be read")                  \
    X(SUBMIT, "submit", 2, "traces can be uploaded, jobs started and cancelled")                   \
    X(ADMIN, "admin", 4, "everything, in the token's projects")

#define FT_ROW(symbol, name, bit, doc) FT_SCOPE_##symbol = bit,
enum { FT_SCOPE_TABLE(FT_ROW) FT_SCOPES_ALL = 7 };
#undef FT_ROW

#define FT_PROJECT_LENGTH  64
#define FT_PROJECT_DEFAULT "default"
#define FT_PROJECTS_LENGTH 1024 /* of a token: ",a,b," */

/* 1 to FT_PROJECT_LENGTH letters, digits, '.', '_', '-' and '/'. */
bool ft_project_good(const char *name);
/* Whether a list ",a,b," (NULL: every project) has the name. */
bool ft_project_listed(const char *projects, const char *name);

/* "read,submit" to bits. FT_USAGE: empty, or an unknown word. */
ft_status ft_scopes_parse(const char *text, unsigned *scopes, ft_error *err) FT_MUST_CHECK;
/* New reference: ["read", ...]. */
json_t *ft_scopes_json(unsigned scopes);

#define FT_TOKEN_ID     16 /* hex digits */
#define FT_TOKEN_SECRET 64
#define FT_TOKEN_PREFIX "foretell_"
#define FT_TOKEN_LENGTH (sizeof FT_TOKEN_PREFIX - 1 + FT_TOKEN_ID + 1 + FT_TOKEN_SECRET)

/* Splits off the id and hashes the whole. False: it does not look like a token. */
bool ft_token_split(const char *token, char id[FT_TOKEN_ID + 1], char hash[65]);

/* ---- The token commands: blocking, on the database of a daemon that may be running ------------
 */

typedef struct ft_token_options {
    const char *name;
    const char *scopes;   /* "read,submit" */
    const char *projects; /* "a,b"; NULL: every one */
    uint64_t rate;        /* requests a second; 0: no limit */
    uint64_t max_upload;  /* bytes; 0: the server's limit */
    uint64_t days;        /* until it expires; 0: never */
} ft_token_options;

/* FT_USAGE: a bad name, scope or project. FT_UNSUPPORTED: a running daemon of another version has
 * the folder. */
ft_status ft_token_create(const char *folder, const ft_token_options *options,
                          char token[FT_TOKEN_LENGTH + 1], ft_error *err) FT_MUST_CHECK;
/* {"tokens": [TOKEN of ft_store_tokens...]}; new reference. */
ft_status ft_token_list(const char *folder, json_t **list, ft_error *err) FT_MUST_CHECK;
/* FT_NOT_FOUND. Revoking one twice is no error. */
ft_status ft_token_revoke(const char *folder, const char *id, ft_error *err) FT_MUST_CHECK;

/* A file in the state folder with a number that is another one once a token command has changed
 * something: cheap enough to be looked at with every request. The caller owns the descriptor; -1:
 * there is none. */
int ft_token_mark_open(const char *folder);
uint64_t ft_token_mark(int fd); /* 0: unknown */

#endif

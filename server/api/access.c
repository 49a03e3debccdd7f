#include "api/access.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "api/stream.h"
#include "setup/log.h"

#define REFRESH_MS    1000
#define REFUSALS_KEPT 10 /* a second, in the audit log; a flood must not fill the disk */

typedef struct token_row {
    ft_access access;
    char hash[FT_DIGEST_HEX + 1];
    bool valid;
    uint64_t rate; /* requests a second; 0: no limit */
    double allowance;
    uint64_t seen; /* loop time of the last request */
} token_row;

struct ft_access_table {
    ft_api *api;
    bool is_public;
    json_t *source; /* of `rows` */
    FT_VEC(token_row) rows;
    uv_timer_t timer;
    int mark;      /* descriptor of the mark of changes */
    uint64_t seen; /* the mark as the rows were read */
    bool asking, closed;
    uint64_t asked;    /* the mark as they were asked for */
    unsigned refusals; /* kept in this second */
};

static const ft_access EVERYBODY = {.scopes = FT_SCOPES_ALL, .all_projects = true};

/* ---- The table ------------------------------------------------------------------------------- */

static void add_row(ft_access_table *table, const json_t *json)
{
    token_row row = {.valid = json_is_true(json_object_get(json, "valid"))};
    const char *projects = json_string_value(json_object_get(json, "projects"));
    ft_error ignored = FT_ERROR_INIT;
    snprintf(row.access.token, sizeof row.access.token, "%s",
             json_string_value(json_object_get(json, "token")));
    snprintf(row.hash, sizeof row.hash, "%s", json_string_value(json_object_get(json, "hash")));
    if (ft_scopes_parse(json_string_value(json_object_get(json, "scopes")), &row.access.scopes,
                        &ignored) != FT_OK)
        row.valid = false;
    if (row.access.scopes & FT_SCOPE_ADMIN) row.access.scopes = FT_SCOPES_ALL;
    row.access.all_projects = !projects;
    snprintf(row.access.projects, sizeof row.access.projects, "%s", projects ? projects : "");
    row.access.max_upload = (uint64_t)json_integer_value(json_object_get(json, "max_upload"));
    row.rate = (uint64_t)json_integer_value(json_object_get(json, "rate"));
    row.allowance = (double)row.rate;
    ft_vec_push(&table->rows, row);
}

/* Steals the reference. */
static void take_tokens(ft_access_table *table, json_t *source)
{
    size_t i;
    json_t *json;
    json_decref(table->source);
    table->source = source;
    table->rows.len = 0;
    json_array_foreach(json_object_get(source, "tokens"), i, json) add_row(table, json);
}

static bool is_open(const ft_access_table *table)
{
    return !table->is_public && table->rows.len == 0;
}

static token_row *find(const ft_access_table *table, const char *id)
{
    for (size_t i = 0; i < table->rows.len; i++)
        if (strcmp(table->rows.data[i].access.token, id) == 0) return &table->rows.data[i];
    return NULL;
}

/* ---- Reading it again ------------------------------------------------------------------------ */

static void on_timer_closed(uv_handle_t *handle)
{
    ft_access_table *table = handle->data;
    table->closed = true;
    if (table->asking) return;
    json_decref(table->source);
    ft_vec_release(&table->rows);
    if (table->mark >= 0) close(table->mark);
    free(table);
}

/* A stream whose token has been revoked, or that was let in before there were any. */
static bool is_over(ft_http_request *request)
{
    const ft_access *access = ft_access_of(request);
    const ft_access_table *table = ft_http_user(request);
    if (!*access->token) return !is_open(table);
    const token_row *row = find(table, access->token);
    return !row || !row->valid;
}

/* Steals the reference. */
static void use_tokens(ft_access_table *table, json_t *tokens)
{
    if (json_equal(tokens, table->source)) {
        json_decref(tokens);
        return;
    }
    take_tokens(table, tokens);
    ft_log(FT_LOG_INFO, "access tokens read", "tokens=%zu", table->rows.len);
    ft_streams_end(table->api, is_over);
}

static void on_tokens(void *data, const ft_error *err, json_t *tokens)
{
    ft_access_table *table = data;
    table->asking = false;
    if (table->closed) {
        on_timer_closed((uv_handle_t *)&table->timer);
        return;
    }
    if (uv_is_closing((uv_handle_t *)&table->timer)) return;
    /* Older than what the table has been read from since. */
    if (!err && table->asked == table->seen) use_tokens(table, json_incref(tokens));
}

/* Blocks for about a millisecond, once for each change by a token command. */
static void read_if_changed(ft_access_table *table)
{
    json_t *tokens;
    ft_error err = FT_ERROR_INIT;
    uint64_t mark = ft_token_mark(table->mark);
    if (mark == table->seen) return;
    table->seen = mark;
    if (ft_token_list(ft_config_place(table->api->app->config), &tokens, &err) == FT_OK)
        use_tokens(table, tokens);
    else
        ft_log(FT_LOG_ERROR, "access tokens cannot be read", "reason=\"%s\"", err.message);
}

static void on_timer(uv_timer_t *timer)
{
    ft_access_table *table = timer->data;
    table->refusals = 0;
    read_if_changed(table);
    if (table->asking) return;
    table->asking = true;
    table->asked = table->seen;
    ft_store_tokens(table->api->app->store, on_tokens, table);
}

ft_status ft_access_open(ft_api *api, bool is_public, ft_access_table **table, ft_error *err)
{
    json_t *tokens;
    size_t i, valid = 0;
    int mark = ft_token_mark_open(api->app->config->state);
    uint64_t seen = ft_token_mark(mark);
    ft_status status = ft_token_list(ft_config_place(api->app->config), &tokens, err);
    if (status != FT_OK) {
        if (mark >= 0) close(mark);
        return status;
    }
    ft_access_table *opened = ft_calloc(1, sizeof *opened);
    opened->api = api;
    opened->mark = mark;
    opened->seen = seen;
    opened->is_public = is_public;
    take_tokens(opened, tokens);
    uv_timer_init(api->app->loop, &opened->timer);
    opened->timer.data = opened;
    uv_timer_start(&opened->timer, on_timer, REFRESH_MS, REFRESH_MS);
    for (i = 0; i < opened->rows.len; i++) valid += opened->rows.data[i].valid;
    if (is_public && valid == 0) {
        ft_access_close(opened);
        return ft_error_set(err, FT_USAGE,
                            "listen: %s is not a loopback address and there is no access token: "
                            "make one with foretelld token create first",
                            api->app->config->listen);
    }
    *table = opened;
    return FT_OK;
}

void ft_access_close(ft_access_table *table)
{
    if (table) uv_close((uv_handle_t *)&table->timer, on_timer_closed);
}

/* ---- One request ----------------------------------------------------------------------------- */

const ft_access *ft_access_of(ft_http_request *request)
{
    const ft_access *access = ft_http_kept(request);
    return access ? access : &EVERYBODY;
}

const char *ft_access_projects(ft_http_request *request)
{
    const ft_access *access = ft_access_of(request);
    return access->all_projects ? NULL : access->projects;
}

void ft_access_audit(ft_api *api, ft_http_request *request, const char *outcome)
{
    char peer[64], action[256];
    const ft_access *access = ft_access_of(request);
    ft_http_peer(request, peer);
    /* Paths may hold any bytes; the log holds visible ASCII. */
    snprintf(action, sizeof action, "%s %s", ft_http_method(request), ft_http_path(request));
    for (char *c = action; *c; c++)
        if ((unsigned char)*c < ' ' || (unsigned char)*c > 126) *c = '?';
    ft_log(FT_LOG_INFO, "audit", "request=%llu peer=%s token=%s action=\"%s\" outcome=%s",
           (unsigned long long)ft_http_number(request), peer, *access->token ? access->token : "-",
           action, outcome);
    ft_store_audit_add(api->app->store, json_pack("{s:s?, s:s, s:s, s:s}", "token",
                                                  *access->token ? access->token : NULL, "peer",
                                                  peer, "action", action, "outcome", outcome));
}

static bool refuse(ft_access_table *table, ft_http_request *request, int status, const char *code,
                   const char *detail)
{
    if (table->refusals++ < REFUSALS_KEPT) ft_access_audit(table->api, request, code);
    ft_http_fail(request, status, code, "%s", detail);
    return false;
}

/* The time does not depend on where the texts differ. */
static bool same_hash(const char *a, const char *b)
{
    unsigned difference = 0;
    for (size_t i = 0; i < FT_DIGEST_HEX; i++) difference |= (unsigned)(a[i] ^ b[i]);
    return difference == 0;
}

/* RFC 6750 §2.1. NULL: no token, or a wrong one (*given). */
static token_row *bearer(const ft_access_table *table, ft_http_request *request, bool *given)
{
    char id[FT_TOKEN_ID + 1], hash[FT_DIGEST_HEX + 1];
    const char *header = ft_http_header(request, "authorization");
    *given = header != NULL;
    if (!header || strncasecmp(header, "Bearer ", 7) != 0) return NULL;
    if (!ft_token_split(header + 7 + strspn(header + 7, " "), id, hash)) return NULL;
    token_row *row = find(table, id);
    return row && row->valid && same_hash(row->hash, hash) ? row : NULL;
}

/* A token bucket of one second's requests. */
static bool spend(token_row *row, uint64_t now)
{
    if (!row->rate) return true;
    row->allowance += (double)(now - row->seen) * (double)row->rate / 1000;
    if (row->allowance > (double)row->rate) row->allowance = (double)row->rate;
    row->seen = now;
    if (row->allowance < 1) return false;
    row->allowance -= 1;
    return true;
}

static const struct {
    unsigned scope;
    const char *name;
} NEEDS[] = {
    [FT_NEEDS_NOTHING] = {0, ""},
    [FT_NEEDS_TOKEN] = {0, ""},
    [FT_NEEDS_READ] = {FT_SCOPE_READ, "read"},
    [FT_NEEDS_SUBMIT] = {FT_SCOPE_SUBMIT, "submit"},
    [FT_NEEDS_ADMIN] = {FT_SCOPE_ADMIN, "admin"},
};

static bool check_token(ft_access_table *table, ft_http_request *request, ft_route_needs needs)
{
    bool given;
    token_row *row = bearer(table, request, &given);
    if (!row) {
        ft_http_set(request, "WWW-Authenticate", "Bearer realm=\"foretell\"%s",
                    given ? ", error=\"invalid_token\"" : "");
        return refuse(table, request, 401, given ? "invalid-token" : "token-missing",
                      given ? "the access token is unknown, revoked or expired"
                            : "the request needs an access token: Authorization: Bearer TOKEN");
    }
    ft_http_keep(request, &row->access, sizeof row->access);
    if (!spend(row, uv_now(table->api->app->loop))) {
        ft_http_set(request, "Retry-After", "1");
        return refuse(table, request, 429, "too-many-requests",
                      "the access token has exceeded its requests per second");
    }
    if ((row->access.scopes & NEEDS[needs].scope) == NEEDS[needs].scope) return true;
    ft_http_set(request, "WWW-Authenticate",
                "Bearer realm=\"foretell\", error=\"insufficient_scope\", scope=\"%s\"",
                NEEDS[needs].name);
    char detail[80];
    snprintf(detail, sizeof detail,
             "the request needs the scope %s, which the access token does not have",
             NEEDS[needs].name);
    return refuse(table, request, 403, "insufficient-scope", detail);
}

/* A page elsewhere can give its own name the address of this machine; its requests then look like
 * those of a page of ours, but for the name. */
static bool is_local_name(ft_http_request *request)
{
    static const char *const NAMES[] = {"localhost", "127.", "[::1]"};
    const char *host = ft_http_header(request, "host");
    for (size_t i = 0; host && i < sizeof NAMES / sizeof *NAMES; i++) {
        size_t length = strlen(NAMES[i]);
        if (strncasecmp(host, NAMES[i], length) != 0) continue;
        const char *rest = host + length;
        if (i == 1) rest += strspn(rest, "0123456789.");
        if (*rest == '\0' || *rest == ':') return true;
    }
    return false;
}

bool ft_access_check(ft_access_table *table, ft_http_request *request, ft_route_needs needs)
{
    ft_http_set_user(request, table);
    if (needs == FT_NEEDS_NOTHING) return true;
    read_if_changed(table);
    if (!is_open(table)) return check_token(table, request, needs);
    char peer[64];
    ft_http_peer(request, peer);
    if (strcmp(peer, "unix") == 0 || is_local_name(request)) return true;
    return refuse(table, request, 403, "foreign-host",
                  "a server without access tokens answers to the names of its own machine only: "
                  "localhost, 127.0.0.1, [::1]");
}

bool ft_access_project(ft_http_request *request, const char *wanted,
                       char project[FT_PROJECT_LENGTH + 1])
{
    const char *projects = ft_access_projects(request);
    if (wanted && !ft_project_good(wanted)) {
        ft_http_fail(request, 422, "invalid-project",
                     "a project has 1 to %d letters, digits, '.', '_', '-' and '/'",
                     FT_PROJECT_LENGTH);
        return false;
    }
    size_t only = projects ? strcspn(projects + 1, ",") : 0;
    bool single = projects && projects[only + 2] == '\0';
    if (wanted || !single)
        snprintf(project, FT_PROJECT_LENGTH + 1, "%s", wanted ? wanted : FT_PROJECT_DEFAULT);
    else
        snprintf(project, FT_PROJECT_LENGTH + 1, "%.*s", (int)only, projects + 1);
    if (ft_project_listed(projects, project)) return true;
    ft_http_fail(request, 403, "project-not-allowed",
                 "the access token is not valid for project %s: use one of its projects", project);
    return false;
}

/* ---- /v1/access, /v1/audit ------------------------------------------------------------------- */

static json_t *projects_json(const ft_access *access)
{
    if (access->all_projects) return json_null();
    json_t *list = json_array();
    for (const char *at = access->projects + 1; *at; at += strcspn(at, ",") + 1)
        json_array_append_new(list, json_stringn(at, strcspn(at, ",")));
    return list;
}

void ft_serve_access(ft_api *api, ft_http_request *request)
{
    (void)api;
    const ft_access *access = ft_access_of(request);
    ft_http_set(request, "Cache-Control", "no-store");
    ft_http_reply_json(request, 200,
                       json_pack("{s:b, s:s?, s:o, s:o}", "open", !*access->token, "token",
                                 *access->token ? access->token : NULL, "scopes",
                                 ft_scopes_json(access->scopes), "projects",
                                 projects_json(access)));
}

static void on_audit(void *data, const ft_error *err, json_t *page)
{
    ft_http_request *request;
    if (!ft_call_end_list(data, err, page, &request)) return;
    ft_http_set(request, "Cache-Control", "no-store");
    ft_http_reply_json(request, 200, json_incref(page));
}

void ft_serve_audit(ft_api *api, ft_http_request *request)
{
    ft_store_page page;
    if (!ft_query_page(request, &page)) return;
    if (ft_access_projects(request)) {
        ft_http_fail(request, 403, "insufficient-scope",
                     "the audit log needs a token for every project");
        return;
    }
    ft_store_audit(api->app->store, page, on_audit, ft_call_new(api, request));
}

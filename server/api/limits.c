/* What projects may have: for admins. `foretelld limit` does the same beside the daemon. */
#include "store/limits.h"

#include <string.h>

#include "api/access.h"

#define LIMIT_MOST 1000000000000000 /* as many digits as the command takes */

/* ---- GET ------------------------------------------------------------------------------------- */

/* JSON has an underscore where options have a dash. */
static void member_of(ft_limit limit, char member[32])
{
    snprintf(member, 32, "%s", ft_limit_name(limit));
    for (char *c = member; *c; c++)
        if (*c == '-') *c = '_';
}

static json_t *view(const char *project, const json_t *stored)
{
    const json_t *used = json_object_get(stored, "used_ms");
    json_t *limits = json_pack("{s:s}", "project", project);
    for (int i = 0; i < FT_LIMITS; i++) {
        char member[32];
        member_of((ft_limit)i, member);
        json_t *value = json_object_get(stored, ft_limit_name((ft_limit)i));
        json_object_set_new(limits, member, value ? json_incref(value) : json_null());
    }
    json_object_set_new(limits, "used_ms", json_integer(json_integer_value(used)));
    return limits;
}

/* No project's name is empty. */
static json_t *defaults(ft_api *api)
{
    json_t *options = json_object();
    for (int i = 0; i < FT_LIMITS; i++) {
        char member[32];
        member_of((ft_limit)i, member);
        uint64_t value = ft_dispatch_limit(api->app->dispatch, "", (ft_limit)i);
        json_object_set_new(options, member, json_integer((json_int_t)value));
    }
    return options;
}

static void on_limits(void *data, const ft_error *err, json_t *list)
{
    ft_api *api = ((ft_call *)data)->api;
    ft_http_request *request;
    const char *name;
    json_t *stored, *limits = json_array();
    if (!ft_call_end(data, err, &request)) {
        json_decref(limits);
        return;
    }
    const char *projects = ft_access_projects(request);
    json_object_foreach(json_object_get(list, "projects"), name, stored)
    {
        if (!projects || ft_project_listed(projects, name))
            json_array_append_new(limits, view(name, stored));
    }
    json_t *answer = json_pack("{s:o, s:o}", "limits", limits, "defaults", defaults(api));
    ft_reply_tagged(request, answer);
    json_decref(answer);
}

void ft_serve_limits(ft_api *api, ft_http_request *request)
{
    ft_store_limits(api->app->store, on_limits, ft_call_new(api, request));
}

/* ---- PUT, DELETE ----------------------------------------------------------------------------- */

static bool refuse(ft_http_request *request, const char *pointer, const char *detail)
{
    ft_http_reply_problem(request, &(ft_http_problem){422, "invalid-limit", detail, pointer, NULL});
    return false;
}

static bool is_limit(const json_t *value)
{
    json_int_t number = json_integer_value(value);
    return json_is_null(value) || (json_is_integer(value) && number >= 0 && number < LIMIT_MOST);
}

/* Those of the body, by the names that the store knows; NULL: a 422 was answered. New reference. */
static json_t *read_limits(ft_http_request *request, const json_t *body)
{
    if (!json_is_object(body)) return refuse(request, "", "limits must be an object"), NULL;
    json_t *limits = json_object();
    size_t known = json_object_get(body, "project") ? 1 : 0;
    for (int i = 0; i < FT_LIMITS; i++) {
        char pointer[33] = "/";
        member_of((ft_limit)i, pointer + 1);
        json_t *value = json_object_get(body, pointer + 1);
        if (!value) continue;
        known++;
        json_object_set(limits, ft_limit_name((ft_limit)i), value);
        if (is_limit(value)) continue;
        refuse(request, pointer,
               "a limit must be a whole number from 0 (no limit), or null (the default)");
        json_decref(limits);
        return NULL;
    }
    if (known == json_object_size(body)) return limits;
    refuse(request, "", "limits have no members but those of GET /v1/limits, without used_ms");
    json_decref(limits);
    return NULL;
}

static void on_changed(void *data, const ft_error *err, json_t *nothing)
{
    (void)nothing;
    ft_http_request *request;
    if (ft_call_end(data, err, &request)) ft_http_reply(request, 204, NULL, NULL, 0);
}

void ft_serve_limits_set(ft_api *api, ft_http_request *request, const json_t *body)
{
    char project[FT_PROJECT_LENGTH + 1];
    const json_t *wanted = json_object_get(body, "project");
    if (wanted && !json_is_string(wanted)) {
        refuse(request, "/project", "the project must be a string");
        return;
    }
    json_t *limits = read_limits(request, body);
    if (limits && ft_access_project(request, json_string_value(wanted), project))
        ft_store_limits_set(api->app->store, project, limits, on_changed,
                            ft_call_new(api, request));
    json_decref(limits);
}

void ft_serve_limits_drop(ft_api *api, ft_http_request *request)
{
    char project[FT_PROJECT_LENGTH + 1];
    if (ft_access_project(request, ft_http_query(request, "project"), project))
        ft_store_limits_drop(api->app->store, project, on_changed, ft_call_new(api, request));
}

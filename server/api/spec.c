#include "api/spec.h"

#include <string.h>

#include "base/digest.h"
#include "store/access.h"
#include "verdict/names.h"
#include "wire/kinds.h"

typedef struct checker {
    ft_strbuf *pointer;
    ft_error *err;
} checker;

typedef struct member {
    const char *name;
    bool required;
    ft_status (*check)(checker *c, const json_t *value);
} member;

/* ---- Pointers -------------------------------------------------------------------------------- */

/* RFC 6901 §3. Returns the length to go back to. */
static size_t enter(checker *c, const char *name)
{
    size_t before = c->pointer->len;
    ft_strbuf_puts(c->pointer, "/");
    for (; *name; name++)
        if (*name == '~' || *name == '/')
            ft_strbuf_puts(c->pointer, *name == '~' ? "~0" : "~1");
        else
            ft_strbuf_add(c->pointer, name, 1);
    return before;
}

static size_t enter_index(checker *c, size_t index)
{
    size_t before = c->pointer->len;
    ft_strbuf_printf(c->pointer, "/%zu", index);
    return before;
}

static void leave(checker *c, size_t before)
{
    ft_strbuf_cut(c->pointer, before);
}

/* ---- Values ---------------------------------------------------------------------------------- */

static ft_status check_text(checker *c, const json_t *value, const char *what, size_t most)
{
    if (!json_is_string(value)) return ft_error_set(c->err, FT_USAGE, "%s must be a string", what);
    size_t length = json_string_length(value);
    if (length == 0) return ft_error_set(c->err, FT_USAGE, "%s must not be empty", what);
    if (length > most)
        return ft_error_set(c->err, FT_USAGE, "%s is longer than %zu bytes", what, most);
    return FT_OK;
}

static ft_status check_name(checker *c, const json_t *value)
{
    return check_text(c, value, "a name", FT_SPEC_TEXT);
}

static ft_status check_title(checker *c, const json_t *value)
{
    if (json_is_string(value) && json_string_length(value) == 0) return FT_OK;
    return check_name(c, value);
}

static ft_status check_project(checker *c, const json_t *value)
{
    if (json_is_string(value) && strlen(json_string_value(value)) == json_string_length(value) &&
        ft_project_good(json_string_value(value)))
        return FT_OK;
    return ft_error_set(c->err, FT_USAGE,
                        "a project has 1 to %d letters, digits, '.', '_', '-' and '/'",
                        FT_PROJECT_LENGTH);
}

/* Its URL is looked at by whoever knows what the server allows. */
static ft_status check_webhook(checker *c, const json_t *value)
{
    ft_status status = check_text(c, value, "a webhook", FT_SPEC_TEXT);
    if (status != FT_OK || strlen(json_string_value(value)) == json_string_length(value))
        return status;
    return ft_error_set(c->err, FT_USAGE, "a webhook must be a URL");
}

static ft_status check_location(checker *c, const json_t *value)
{
    return check_text(c, value, "a location", FT_SPEC_TEXT);
}

static ft_status check_term(checker *c, const json_t *value)
{
    return check_text(c, value, "a term (SMT-LIB 2)", FT_SPEC_TERM);
}

static ft_status check_number(checker *c, const json_t *value, const char *what, json_int_t least,
                              json_int_t most)
{
    if (json_is_integer(value) && json_integer_value(value) >= least &&
        json_integer_value(value) <= most)
        return FT_OK;
    return ft_error_set(c->err, FT_USAGE, "%s must be a whole number from %lld to %lld", what,
                        (long long)least, (long long)most);
}

static ft_status check_event(checker *c, const json_t *value)
{
    return check_number(c, value, "an event", 1, UINT32_MAX - 1);
}

static ft_status check_ms(checker *c, const json_t *value)
{
    return check_number(c, value, "a budget in milliseconds", 1, 604800000);
}

static ft_status check_memory(checker *c, const json_t *value)
{
    return check_number(c, value, "a budget of memory in MiB", 64, 1 << 24);
}

static ft_status check_priority(checker *c, const json_t *value)
{
    return check_number(c, value, "a priority", -FT_SPEC_PRIORITY, FT_SPEC_PRIORITY);
}

static ft_status check_trace(checker *c, const json_t *value)
{
    const char *hash = json_string_value(value);
    if (hash && json_string_length(value) == FT_DIGEST_HEX &&
        strspn(hash, "0123456789abcdef") == FT_DIGEST_HEX)
        return FT_OK;
    return ft_error_set(c->err, FT_USAGE,
                        "a trace or program is named by the SHA-256 that its upload returned: 64 "
                        "lower-case hexadecimal digits");
}

static ft_status one_of(checker *c, const json_t *value, const char *what, const char *const *words)
{
    ft_strbuf list = {0};
    const char *text = json_string_value(value);
    for (size_t i = 0; words[i]; i++) {
        if (text && strcmp(text, words[i]) == 0) {
            ft_strbuf_release(&list);
            return FT_OK;
        }
        ft_strbuf_printf(&list, "%s\"%s\"", i ? ", " : "", words[i]);
    }
    ft_status status =
        text ? ft_error_set(c->err, FT_USAGE, "unknown %s \"%.64s\": use one of %s", what, text,
                            list.text)
             : ft_error_set(c->err, FT_USAGE, "%s must be one of %s", what, list.text);
    ft_strbuf_release(&list);
    return status;
}

static ft_status check_model(checker *c, const json_t *value)
{
    static const char *const WORDS[] = {"auto",
#define FT_ROW(symbol, name, doc) name,
                                        FT_MODEL_TABLE(FT_ROW)
#undef FT_ROW
                                            NULL};
    return one_of(c, value, "model", WORDS);
}

static ft_status check_per(checker *c, const json_t *value)
{
    static const char *const WORDS[] = {"location", "event", NULL};
    return one_of(c, value, "grouping", WORDS);
}

static ft_status check_wakeups(checker *c, const json_t *value)
{
    static const char *const WORDS[] = {"any", "observed", "spurious", NULL};
    return one_of(c, value, "choice of wake-ups", WORDS);
}

static ft_status check_bound(checker *c, const json_t *value)
{
    const char *word = json_string_value(value);
    json_int_t bound = json_integer_value(value);
    bool fits = json_is_null(value) || (word && strcmp(word, "auto") == 0) ||
                (json_is_integer(value) && bound >= 0 && bound <= FT_SPEC_CONTEXT_BOUND);
    if (fits) return FT_OK;
    return ft_error_set(c->err, FT_USAGE, "the context bound must be auto or 0 to %d",
                        FT_SPEC_CONTEXT_BOUND);
}

static ft_status check_encoding(checker *c, const json_t *value)
{
    static const char *const WORDS[] = {"default", "literal", NULL};
    return one_of(c, value, "encoding", WORDS);
}

static ft_status check_solver(checker *c, const json_t *value)
{
#define FT_ROW(symbol, name, doc) name,
    static const char *const WORDS[] = {FT_SOLVER_TABLE(FT_ROW) NULL};
#undef FT_ROW
    return one_of(c, value, "solver", WORDS);
}

/* The checks that a job can name: properties come with "properties". */
static ft_status check_check(checker *c, const json_t *value)
{
    const char *words[FT_CHECKS + 1];
    size_t n = 0;
    for (int i = 0; i < FT_CHECKS_NAMED; i++) words[n++] = ft_check_name((ft_check)i);
    words[n] = NULL;
    return one_of(c, value, "check", words);
}

/* ---- Lists and objects ----------------------------------------------------------------------- */

static ft_status each(checker *c, const json_t *value, const char *what, size_t most,
                      ft_status (*check)(checker *c, const json_t *value))
{
    size_t i;
    const json_t *item;
    if (!json_is_array(value)) return ft_error_set(c->err, FT_USAGE, "%s must be a list", what);
    if (json_array_size(value) > most)
        return ft_error_set(c->err, FT_USAGE, "%s has more than %zu entries", what, most);
    json_array_foreach(value, i, item)
    {
        size_t before = enter_index(c, i);
        ft_status status = check(c, item);
        if (status != FT_OK) return status;
        leave(c, before);
    }
    return FT_OK;
}

static const member *find_member(const member *members, const char *name)
{
    for (; members->name; members++)
        if (strcmp(members->name, name) == 0) return members;
    return NULL;
}

static ft_status check_members(checker *c, const json_t *value, const char *what,
                               const member *members)
{
    const char *name;
    json_t *item;
    if (!json_is_object(value)) return ft_error_set(c->err, FT_USAGE, "%s must be an object", what);
    json_object_foreach((json_t *)(uintptr_t)value, name, item)
    {
        const member *found = find_member(members, name);
        size_t before = enter(c, name);
        if (!found) return ft_error_set(c->err, FT_USAGE, "%s has no member \"%.64s\"", what, name);
        ft_status status = found->check ? found->check(c, item) : FT_OK;
        if (status != FT_OK) return status;
        leave(c, before);
    }
    for (; members->name; members++)
        if (members->required && !json_object_get(value, members->name))
            return ft_error_set(c->err, FT_USAGE, "%s needs the member \"%s\"", what,
                                members->name);
    return FT_OK;
}

static ft_status check_checks(checker *c, const json_t *value)
{
    ft_status status = each(c, value, "checks", FT_CHECKS, check_check);
    for (size_t i = 0; status == FT_OK && i < json_array_size(value); i++)
        for (size_t k = 0; k < i; k++)
            if (json_equal(json_array_get(value, i), json_array_get(value, k)))
                return ft_error_set(c->err, FT_USAGE, "a check is named twice");
    return status;
}

static ft_status check_ignored(checker *c, const json_t *value)
{
    return each(c, value, "ignore_locations", FT_SPEC_LOCATIONS, check_location);
}

static ft_status check_budget(checker *c, const json_t *value)
{
    static const member MEMBERS[] = {{"subproblem_ms", false, check_ms},
                                     {"job_ms", false, check_ms},
                                     {"memory_mb", false, check_memory},
                                     {NULL, false, NULL}};
    return check_members(c, value, "a budget", MEMBERS);
}

/* ---- Properties ------------------------------------------------------------------------------ */

static ft_status check_two(checker *c, const json_t *value)
{
    ft_status status = each(c, value, "locations", 2, check_location);
    if (status != FT_OK || json_array_size(value) == 2) return status;
    return ft_error_set(c->err, FT_USAGE, "locations must have two entries");
}

static const member ASSERTION[] = {
    {"kind", true, NULL},          {"name", false, check_name},
    {"event", false, check_event}, {"location", false, check_location},
    {"term", true, check_term},    {NULL, false, NULL}};
static const member CO_ENABLED[] = {{"kind", true, NULL},
                                    {"name", false, check_name},
                                    {"locations", true, check_two},
                                    {NULL, false, NULL}};
static const member BEFORE[] = {{"kind", true, NULL},
                                {"name", false, check_name},
                                {"first", true, check_location},
                                {"then", true, check_location},
                                {NULL, false, NULL}};
static const member TRANSACTION[] = {{"kind", true, NULL},
                                     {"name", false, check_name},
                                     {"from", true, check_location},
                                     {"to", true, check_location},
                                     {NULL, false, NULL}};

/* In the order of KIND_WORDS. */
static const member *const KINDS[] = {ASSERTION, CO_ENABLED, BEFORE, TRANSACTION};
static const char *const KIND_WORDS[] = {"assertion", "co-enabled", "before", "transaction", NULL};

static ft_status check_property(checker *c, const json_t *value)
{
    if (!json_is_object(value))
        return ft_error_set(c->err, FT_USAGE, "a property must be an object");
    const json_t *kind = json_object_get(value, "kind");
    if (!kind) return ft_error_set(c->err, FT_USAGE, "a property needs the member \"kind\"");
    size_t before = enter(c, "kind"), i = 0;
    ft_status status = one_of(c, kind, "kind of property", KIND_WORDS);
    if (status != FT_OK) return status;
    leave(c, before);
    while (strcmp(KIND_WORDS[i], json_string_value(kind)) != 0) i++;
    status = check_members(c, value, "a property of this kind", KINDS[i]);
    if (status != FT_OK || KINDS[i] != ASSERTION) return status;
    if (!json_object_get(value, "event") != !json_object_get(value, "location")) return FT_OK;
    return ft_error_set(c->err, FT_USAGE, "an assertion needs either \"event\" or \"location\"");
}

static ft_status check_properties(checker *c, const json_t *value)
{
    return each(c, value, "properties", FT_SPEC_PROPERTIES, check_property);
}

/* A worker knows their names. */
static ft_status check_pass(checker *c, const json_t *value)
{
    return check_text(c, value, "a pass", FT_SPEC_TEXT);
}

static ft_status check_without(checker *c, const json_t *value)
{
    return each(c, value, "without", FT_SPEC_PASSES, check_pass);
}

/* ---- The job --------------------------------------------------------------------------------- */

static ft_status check_kind(checker *c, const json_t *value)
{
#define FT_ROW(symbol, name, input, group, doc) name,
    static const char *const WORDS[] = {FT_JOB_KIND_TABLE(FT_ROW) NULL};
#undef FT_ROW
    return one_of(c, value, "kind of job", WORDS);
}

/* The members that every kind of job has. */
#define COMMON_MEMBERS                                                                             \
    {"budget", false, check_budget}, {"priority", false, check_priority},                          \
        {"name", false, check_title}, {"project", false, check_project},                           \
    {                                                                                              \
        "webhook", false, check_webhook                                                            \
    }

static const member JOB[] = {{"trace", true, check_trace},
                             {"kind", false, check_kind},
                             {"checks", false, check_checks},
                             {"model", false, check_model},
                             {"per", false, check_per},
                             {"properties", false, check_properties},
                             {"ignore_locations", false, check_ignored},
                             {"encoding", false, check_encoding},
                             {"solver", false, check_solver},
                             {"without", false, check_without},
                             {"wakeups", false, check_wakeups},
                             {"context_bound", false, check_bound},
                             COMMON_MEMBERS,
                             {NULL, false, NULL}};

/* ---- Jobs over programs ---------------------------------------------------------------------- */

static ft_status check_program_check(checker *c, const json_t *value)
{
    static const char *const WORDS[] = {"race",  "assertion", "lock", "deadlock",
                                        "order", "failure",   NULL};
    return one_of(c, value, "check of programs", WORDS);
}

static ft_status check_program_checks(checker *c, const json_t *value)
{
    if (json_is_array(value) && !json_array_size(value))
        return ft_error_set(c->err, FT_USAGE, "the job has no checks: give at least one");
    return each(c, value, "checks", FT_CHECKS, check_program_check);
}

static ft_status check_input(checker *c, const json_t *value)
{
    if (json_is_integer(value)) return FT_OK;
    return ft_error_set(c->err, FT_USAGE, "the value of an input must be a whole number");
}

static ft_status check_inputs(checker *c, const json_t *value)
{
    const char *name;
    json_t *item;
    if (!json_is_object(value) || json_object_size(value) > FT_SPEC_INPUTS)
        return ft_error_set(c->err, FT_USAGE, "inputs must be an object of at most %d members",
                            FT_SPEC_INPUTS);
    json_object_foreach((json_t *)(uintptr_t)value, name, item)
    {
        size_t before = enter(c, name);
        ft_status status = check_input(c, item);
        if (status != FT_OK) return status;
        leave(c, before);
    }
    return FT_OK;
}

static ft_status check_preemptions(checker *c, const json_t *value)
{
    if (json_is_null(value)) return FT_OK;
    return check_number(c, value, "a number of preemptions", 0, 60);
}

static ft_status check_count(checker *c, const json_t *value)
{
    return check_number(c, value, "a bound", 1, UINT32_MAX);
}

static ft_status check_exit(checker *c, const json_t *value)
{
    return check_number(c, value, "an exit code", 0, 255);
}

static ft_status check_flag(checker *c, const json_t *value)
{
    if (json_is_boolean(value)) return FT_OK;
    return ft_error_set(c->err, FT_USAGE, "it must be true or false");
}

static ft_status check_explore(checker *c, const json_t *value)
{
    static const member MEMBERS[] = {{"preemptions", false, check_preemptions},
                                     {"runs", false, check_count},
                                     {"steps", false, check_count},
                                     {"iterations", false, check_count},
                                     {"polls", false, check_count},
                                     {"cutoffs", false, check_flag},
                                     {"explain", false, check_flag},
                                     {"expect_exit", false, check_exit},
                                     {NULL, false, NULL}};
    return check_members(c, value, "explore", MEMBERS);
}

static const member PROGRAM_JOB[] = {{"program", true, check_trace},
                                     {"kind", false, check_kind},
                                     {"checks", false, check_program_checks},
                                     {"inputs", false, check_inputs},
                                     {"explore", false, check_explore},
                                     COMMON_MEMBERS,
                                     {NULL, false, NULL}};

/* ---- Jobs over contexts ---------------------------------------------------------------------- */

static ft_status check_reading(checker *c, const json_t *value)
{
    static const char *const WORDS[] = {"before", "waiting", "woken", NULL};
    return one_of(c, value, "reading of a place", WORDS);
}

static ft_status check_context_thread(checker *c, const json_t *value)
{
    static const member MEMBERS[] = {{"name", true, check_title},
                                     {"at", true, check_title},
                                     {"reading", false, check_reading},
                                     {NULL, false, NULL}};
    return check_members(c, value, "a thread of a context", MEMBERS);
}

static ft_status check_context_threads(checker *c, const json_t *value)
{
    return each(c, value, "threads", FT_SPEC_CONTEXT_THREADS, check_context_thread);
}

static ft_status check_context_passes(checker *c, const json_t *value)
{
    return each(c, value, "without", FT_SPEC_PASSES, check_title);
}

static ft_status check_wake(checker *c, const json_t *value)
{
    static const char *const WORDS[] = {"any", "fifo", NULL};
    return one_of(c, value, "order of waking", WORDS);
}

static ft_status check_orders(checker *c, const json_t *value)
{
    static const char *const WORDS[] = {"every", "fixed", NULL};
    return one_of(c, value, "set of orders", WORDS);
}

static ft_status check_branches(checker *c, const json_t *value)
{
    return check_number(c, value, "a number of branches", 0, 1000);
}

static ft_status check_tries(checker *c, const json_t *value)
{
    return check_number(c, value, "a number of runs", 0, 1000000);
}

static ft_status check_context(checker *c, const json_t *value)
{
    static const member MEMBERS[] = {
        {"threads", true, check_context_threads}, {"others", false, check_flag},
        {"without", false, check_context_passes}, {"wake", false, check_wake},
        {"orders", false, check_orders},          {"steps", false, check_branches},
        {"replay_runs", false, check_tries},      {NULL, false, NULL}};
    return check_members(c, value, "context", MEMBERS);
}

static const member CONTEXT_JOB[] = {{"program", true, check_trace},
                                     {"kind", true, check_kind},
                                     {"context", true, check_context},
                                     COMMON_MEMBERS,
                                     {NULL, false, NULL}};

/* ---- Jobs over covering schedules ------------------------------------------------------------ */

static ft_status check_schedule_order(checker *c, const json_t *value)
{
    static const char *const WORDS[] = {"thread", "trace", "seed", NULL};
    return one_of(c, value, "order of threads", WORDS);
}

static ft_status check_preference(checker *c, const json_t *value)
{
    if (json_is_string(value)) return FT_OK;
    return ft_error_set(c->err, FT_USAGE, "it must be the text of a witness or a schedule set");
}

static ft_status check_loops(checker *c, const json_t *value)
{
    static const char *const WORDS[] = {"unroll", "summarise", NULL};
    return one_of(c, value, "way of loops", WORDS);
}

static ft_status check_dynamic(checker *c, const json_t *value)
{
    bool good = json_is_array(value);
    for (size_t i = 0; good && i < json_array_size(value); i++)
        good = json_is_string(json_array_get(value, i));
    if (good) return FT_OK;
    return ft_error_set(c->err, FT_USAGE, "it must be an array of names of inputs");
}

static ft_status check_seed(checker *c, const json_t *value)
{
    return check_number(c, value, "a seed", 0, UINT32_MAX);
}

static ft_status check_epochs(checker *c, const json_t *value)
{
    const char *name = json_string_value(value);
    if (name &&
        (strcmp(name, "auto") == 0 || strcmp(name, "one") == 0 || strcmp(name, "markers") == 0))
        return FT_OK;
    return ft_error_set(c->err, FT_USAGE, "it must be auto, one or markers");
}

static ft_status check_entries(checker *c, const json_t *value)
{
    return check_number(c, value, "a number of classes", 0, UINT32_MAX);
}

static ft_status check_set(checker *c, const json_t *value)
{
    if (json_is_string(value)) return FT_OK;
    return ft_error_set(c->err, FT_USAGE, "it must be the text of a schedule set");
}

static ft_status check_cover(checker *c, const json_t *value)
{
    static const member MEMBERS[] = {{"order", false, check_schedule_order},
                                     {"prefer", false, check_preference},
                                     {"dynamic", false, check_dynamic},
                                     {"loops", false, check_loops},
                                     {"seed", false, check_seed},
                                     {"epochs", false, check_epochs},
                                     {"prefix", false, check_flag},
                                     {"entries", false, check_entries},
                                     {"set", false, check_set},
                                     {"smt", false, check_flag},
                                     {NULL, false, NULL}};
    return check_members(c, value, "cover", MEMBERS);
}

static const member COVER_JOB[] = {{"program", true, check_trace},
                                   {"kind", true, check_kind},
                                   {"cover", true, check_cover},
                                   COMMON_MEMBERS,
                                   {NULL, false, NULL}};

/* By kind: what the jobs are called, and their members. */
static const struct {
    const char *what;
    const member *members;
} JOBS[FT_JOB_KINDS] = {
    [FT_JOB_KIND_PREDICT] = {"a job", JOB},
    [FT_JOB_KIND_EXPLORE] = {"a job over a program", PROGRAM_JOB},
    [FT_JOB_KIND_CONTEXT] = {"a job over a context", CONTEXT_JOB},
    [FT_JOB_KIND_COVER] = {"a job over covering schedules", COVER_JOB},
};

ft_status ft_spec_check(const json_t *spec, ft_strbuf *pointer, ft_error *err)
{
    checker c = {pointer, err};
    ft_job_kind kind = ft_job_kind_of(spec);
    ft_status status = check_members(&c, spec, JOBS[kind].what, JOBS[kind].members);
    if (status != FT_OK || kind != FT_JOB_KIND_PREDICT) return status;
    const json_t *checks = json_object_get(spec, "checks");
    if (!checks || json_array_size(checks) || json_array_size(json_object_get(spec, "properties")))
        return FT_OK;
    enter(&c, "checks");
    return ft_error_set(err, FT_USAGE,
                        "the job has no checks and no properties: give at least one");
}

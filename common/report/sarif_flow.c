/* The schedule of a finding as SARIF code flows (SARIF 2.1.0 §3.36-3.38). */
#include <stdlib.h>
#include <string.h>

#include "report/sarif.h"

/* How the schedule's events appear as threadFlowLocation kinds (§3.38.8). */
static const struct {
    const char *event, *kinds[2];
} KINDS[] = {
    {"acquire", {"acquire", "lock"}}, {"acquire-shared", {"acquire", "lock"}},
    {"release", {"release", "lock"}}, {"fork", {"call", "function"}},
    {"if", {"branch", NULL}},         {"assume", {"branch", NULL}},
    {"alloc", {"acquire", "memory"}}, {"free", {"release", "memory"}},
    {"begin", {"enter", "function"}}, {"end", {"exit", "function"}},
};

static json_t *kinds_of(const ft_report_step *step)
{
    const char *kind = ft_json_text(step->json, "kind", "");
    for (size_t i = 0; i < sizeof KINDS / sizeof *KINDS; i++) {
        if (strcmp(KINDS[i].event, kind) != 0) continue;
        json_t *list = json_array();
        for (size_t k = 0; k < 2 && KINDS[i].kinds[k]; k++)
            json_array_append_new(list, json_string(KINDS[i].kinds[k]));
        return list;
    }
    return NULL;
}

/* The object's value behind the step, for viewers that show values. */
static json_t *state_of(const ft_report_step *step)
{
    const char *object = ft_json_text(step->json, "object", NULL),
               *value = ft_json_text(step->json, "value", NULL);
    if (!object || !value || !*object) return NULL;
    json_t *state = json_object();
    json_object_set_new(state, object, ft_sarif_message(value));
    return state;
}

static const char *importance(const ft_report_step *step)
{
    if (step->marked || step->departs || step->source) return "essential";
    return ft_json_text(step->json, "object", NULL) ? "important" : "unimportant";
}

/* The locks that the record knows to be held at an event of the claim. */
static const char *locks_of(const ft_finding *finding, const ft_report_step *step)
{
    for (size_t i = 0; i < finding->accesses.len && step->marked; i++) {
        const ft_report_access *access = &finding->accesses.data[i];
        if (json_equal(json_object_get(access->json, "event"),
                       json_object_get(step->json, "event")))
            return access->locks;
    }
    return NULL;
}

static json_t *flow_location(const ft_finding *finding, const ft_report_step *step)
{
    const char *locks = locks_of(finding, step);
    const char *thread = finding->threads.data[step->thread];
    ft_strbuf text = {0};
    ft_view_safe_text(thread, &text);
    ft_strbuf_printf(&text, ": %s", step->text);
    if (locks) ft_strbuf_printf(&text, " (%s)", locks);
    json_t *out = json_object(), *kinds = kinds_of(step), *state = state_of(step);
    json_object_set_new(out, "location",
                        ft_sarif_location(&(ft_sarif_spot){
                            finding, &step->place, ft_json_text(step->json, "function", NULL),
                            thread, ft_strbuf_text(&text), NULL}));
    json_object_set_new(out, "executionOrder", json_integer((json_int_t)step->number));
    json_object_set_new(out, "importance", json_string(importance(step)));
    if (kinds) json_object_set_new(out, "kinds", kinds);
    if (state) json_object_set_new(out, "state", state);
    ft_strbuf_release(&text);
    return out;
}

static json_t *thread_flow(const ft_finding *finding, size_t thread, const bool *keep)
{
    json_t *locations = json_array();
    for (size_t i = 0; i < finding->steps.len; i++)
        if (keep[i] && finding->steps.data[i].thread == thread)
            json_array_append_new(locations, flow_location(finding, &finding->steps.data[i]));
    if (json_array_size(locations) == 0) {
        json_decref(locations);
        return NULL;
    }
    json_t *flow = json_object();
    json_object_set_new(flow, "id", json_string(finding->threads.data[thread]));
    json_object_set_new(flow, "message", ft_sarif_message(finding->threads.data[thread]));
    json_object_set_new(flow, "locations", locations);
    return flow;
}

json_t *ft_sarif_flows(const ft_finding *finding, size_t most)
{
    if (finding->steps.len == 0) return NULL;
    bool *keep = ft_calloc(finding->steps.len, sizeof *keep);
    ft_report_essential(finding, most, keep);
    json_t *flows = json_array();
    for (size_t i = 0; i < finding->threads.len; i++) {
        json_t *flow = thread_flow(finding, i, keep);
        if (flow) json_array_append_new(flows, flow);
    }
    free(keep);
    if (json_array_size(flows) == 0) {
        json_decref(flows);
        return NULL;
    }
    json_t *flow = json_pack("{s:{s:s}, s:o}", "message", "text",
                             "A schedule of the run's events that hits it", "threadFlows", flows);
    return json_pack("[o]", flow);
}

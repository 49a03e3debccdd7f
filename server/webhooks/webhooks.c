#include "webhooks/webhooks.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "dispatch/dispatch.h"
#include "setup/log.h"
#include "setup/program.h"
#include "webhooks/internal.h"

#define PROGRAM     "foretell-webhook"
#define RETRY_MS    1000 /* after a failure of the store */
#define POLL_MS     2000 /* of a shared store: other nodes make deliveries too, and die */
#define LONGEST_MS  ((uint64_t)3600000)
#define STATUS_GONE 410

/* How an attempt went, on its way into the store. */
struct ft_ending {
    ft_ending *next;
    ft_webhooks *webhooks;
    char *delivery, *error;
    uint64_t token;
    ft_store_outcome outcome;
};

static void pump(ft_webhooks *webhooks);

void ft_webhooks_drop(ft_webhooks *webhooks)
{
    if (--webhooks->holds > 0) return;
    free(webhooks->program);
    free(webhooks);
}

/* ---- Results --------------------------------------------------------------------------------- */

static void free_ending(ft_ending *ending)
{
    ft_webhooks *webhooks = ending->webhooks;
    free(ending->delivery);
    free(ending->error);
    free(ending);
    ft_webhooks_drop(webhooks);
}

static void on_timer(uv_timer_t *timer)
{
    pump(timer->data);
}

static void on_saved(void *data, const ft_error *err, json_t *nothing)
{
    ft_ending *ending = data;
    ft_webhooks *webhooks = ending->webhooks;
    (void)nothing;
    if (err && !webhooks->closing) {
        ft_log(FT_LOG_ERROR, "a webhook's result cannot be stored", "delivery=%s reason=\"%s\"",
               ending->delivery, err->message);
        ending->next = webhooks->unsaved;
        webhooks->unsaved = ending;
        uv_timer_start(&webhooks->timer, on_timer, RETRY_MS, 0);
        return;
    }
    if (!webhooks->closing) pump(webhooks);
    free_ending(ending);
}

static void save(ft_ending *ending)
{
    ft_store_delivery_end(ending->webhooks->app->store, ending->delivery, ending->token,
                          &ending->outcome, on_saved, ending);
}

/* The delay is spread by the delivery's random name, so that a receiver that was away does not get
 * all deliveries at once. */
static int64_t delay(const ft_config *config, const ft_attempt_result *result)
{
    uint64_t ms = config->webhook_retry_ms;
    for (unsigned i = 1; i < result->number && ms < LONGEST_MS; i++) ms *= 2;
    if (ms > LONGEST_MS) ms = LONGEST_MS;
    uint64_t off = strtoull(result->delivery, NULL, 16) % 256;
    return (int64_t)(ms - ms / 8 + ms * off / 1024);
}

static void audit_failure(ft_webhooks *webhooks, const ft_attempt_result *result)
{
    ft_store_audit_add(webhooks->app->store,
                       json_pack("{s:n, s:s, s:o, s:s}", "token", "peer", "webhook", "action",
                                 json_sprintf("deliver %s of job %s for project %s",
                                              result->delivery, result->job, result->project),
                                 "outcome", "failed"));
}

static void log_result(const ft_attempt_result *result, bool good, bool over)
{
    ft_log(good ? FT_LOG_INFO : FT_LOG_WARN, good ? "webhook delivered" : "webhook not delivered",
           "delivery=%s job=%s project=%s attempt=%u status=%d%s%s%s%s", result->delivery,
           result->job, result->project, result->number, result->status,
           good || result->status ? "" : " reason=\"", good || result->status ? "" : result->reason,
           good || result->status ? "" : "\"", over && !good ? " given-up=1" : "");
}

static void count(ft_webhooks *webhooks, bool good, bool over)
{
    webhooks->metrics[FT_WEBHOOK_ATTEMPTS]++;
    if (good) webhooks->metrics[FT_WEBHOOK_DELIVERED]++;
    if (over && !good) webhooks->metrics[FT_WEBHOOK_FAILED]++;
}

void ft_attempt_over(ft_webhooks *webhooks, const ft_attempt_result *result)
{
    const ft_config *config = webhooks->app->config;
    FT_REQUIRE(result->status == 0 || (result->status >= 200 && result->status < 600));
    FT_REQUIRE(result->number > 0 && (result->status != 0 || result->reason));
    bool good = result->status >= 200 && result->status < 300;
    bool over = good || result->status == STATUS_GONE || result->number >= config->webhook_attempts;
    ft_ending *ending = ft_calloc(1, sizeof *ending);
    ending->webhooks = webhooks;
    ending->delivery = ft_strdup(result->delivery);
    ending->token = result->token;
    if (!good) {
        ft_strbuf text = {0};
        if (result->status)
            ft_strbuf_printf(&text, "answered with status %d", result->status);
        else
            ft_strbuf_puts(&text, result->reason);
        ending->error = ft_strbuf_take(&text);
    }
    ending->outcome = (ft_store_outcome){.delivered = good,
                                         .status = result->status,
                                         .error = ending->error,
                                         .again_ms = over ? -1 : delay(config, result)};
    webhooks->holds++;
    log_result(result, good, over);
    count(webhooks, good, over);
    if (over && !good) audit_failure(webhooks, result);
    save(ending);
}

/* ---- What is due ----------------------------------------------------------------------------- */

/* An attempt, the storing of its result, and what a node that is slow may need beside them. */
static uint64_t lease_ms(const ft_webhooks *webhooks)
{
    const ft_config *config = webhooks->app->config;
    uint64_t ms = config->webhook_timeout_ms + FT_WEBHOOK_GRACE_MS + config->lease_ms;
    return ms < UINT32_MAX ? ms : UINT32_MAX;
}

/* The node was stopped meanwhile: other nodes may be sending what it was given. */
static bool is_late(const ft_webhooks *webhooks)
{
    uint64_t passed = (uv_hrtime() - webhooks->asked) / 1000000;
    return ft_store_is_shared(webhooks->app->store) && passed >= webhooks->app->config->lease_ms;
}

static void set_timer(ft_webhooks *webhooks, const json_t *wait, size_t taken)
{
    uint64_t ms = (uint64_t)json_integer_value(wait);
    bool shared = ft_store_is_shared(webhooks->app->store);
    if (!json_is_integer(wait) && !shared) return;
    if (shared && (!json_is_integer(wait) || ms > POLL_MS)) ms = POLL_MS;
    /* A delivery that is due but leased waits for that attempt, whose end asks again. */
    if (ms == 0 && taken == 0) ms = RETRY_MS;
    uv_timer_start(&webhooks->timer, on_timer, ms, 0);
}

static void on_taken(void *data, const ft_error *err, json_t *result)
{
    ft_webhooks *webhooks = data;
    size_t i;
    json_t *delivery, *list = json_object_get(result, "deliveries");
    assert(webhooks->asking);
    webhooks->asking = false;
    if (err && !webhooks->closing) {
        ft_log(FT_LOG_ERROR, "webhooks cannot be read", "reason=\"%s\"", err->message);
        uv_timer_start(&webhooks->timer, on_timer, RETRY_MS, 0);
    } else if (!webhooks->closing) {
        bool late = is_late(webhooks);
        json_array_foreach(list, i, delivery) if (!late) ft_attempt_start(webhooks, delivery);
        set_timer(webhooks, json_object_get(result, "wait"), json_array_size(list));
        if (webhooks->again) pump(webhooks);
    }
    ft_webhooks_drop(webhooks);
}

static void save_again(ft_webhooks *webhooks)
{
    ft_ending *ending = webhooks->unsaved;
    webhooks->unsaved = NULL;
    for (ft_ending *next; ending; ending = next) {
        next = ending->next;
        save(ending);
    }
}

static void pump(ft_webhooks *webhooks)
{
    uint64_t most = webhooks->app->config->webhook_senders;
    if (webhooks->closing || !webhooks->able) return;
    save_again(webhooks);
    webhooks->again = webhooks->asking;
    if (webhooks->asking || webhooks->running >= most) return;
    webhooks->asking = true;
    webhooks->holds++;
    webhooks->asked = uv_hrtime();
    const ft_store_sending sending = {.most = (uint32_t)(most - webhooks->running),
                                      .each = (uint32_t)(most + 1) / 2,
                                      .lease_ms = (uint32_t)lease_ms(webhooks)};
    ft_store_deliveries_take(webhooks->app->store, sending, on_taken, webhooks);
}

void ft_webhooks_poke(ft_webhooks *webhooks)
{
    if (webhooks) pump(webhooks);
}

static void on_change(void *data, const char *job, uint64_t revision, ft_job_state state)
{
    (void)job;
    (void)revision;
    if (ft_job_state_final(state)) pump(data);
}

/* ---- Life ------------------------------------------------------------------------------------ */

ft_webhooks *ft_webhooks_new(ft_app *app)
{
    ft_webhooks *webhooks = ft_calloc(1, sizeof *webhooks);
    ft_error err = FT_ERROR_INIT;
    webhooks->app = app;
    webhooks->holds = 1;
    webhooks->able = ft_program_path(app->config->webhook_program, PROGRAM, "webhook-program",
                                     &webhooks->program, &err) == FT_OK;
    if (!webhooks->able)
        ft_log(FT_LOG_WARN, "webhooks are not delivered", "reason=\"%s\"", err.message);
    uv_timer_init(app->loop, &webhooks->timer);
    webhooks->timer.data = webhooks;
    webhooks->watch = ft_dispatch_watch(app->dispatch, NULL, on_change, webhooks);
    pump(webhooks);
    return webhooks;
}

static void on_closed(uv_handle_t *handle)
{
    ft_webhooks_drop(handle->data);
}

void ft_webhooks_free(ft_webhooks *webhooks)
{
    if (!webhooks) return;
    webhooks->closing = true;
    ft_dispatch_unwatch(webhooks->watch);
    ft_attempts_kill(webhooks);
    for (ft_ending *next, *ending = webhooks->unsaved; ending; ending = next) {
        next = ending->next;
        free_ending(ending);
    }
    uv_close((uv_handle_t *)&webhooks->timer, on_closed);
}

json_t *ft_webhooks_metrics(const ft_webhooks *webhooks)
{
#define FT_ROW(symbol, name, doc) name,
    static const char *const NAMES[] = {FT_WEBHOOK_METRIC_TABLE(FT_ROW)};
#undef FT_ROW
    json_t *metrics = json_object();
    for (int i = 0; i < FT_WEBHOOK_METRICS; i++)
        json_object_set_new(metrics, NAMES[i],
                            json_integer(webhooks ? (json_int_t)webhooks->metrics[i] : 0));
    return metrics;
}

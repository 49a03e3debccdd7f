#include "base/contract.h"
#include "recorded.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "files/files.h"
#include "maker/replay/plan.h"

struct ft_feed {
    ft_trace *trace;
    char *program; /* its file */
    ft_plan plan;
    ft_strbuf content;
};

void ft_feed_free(ft_feed *feed)
{
    if (!feed) return;
    ft_plan_release(&feed->plan);
    ft_strbuf_release(&feed->content);
    ft_trace_free(feed->trace);
    free(feed->program);
    free(feed);
}

ft_status ft_feed_read(const char *path, const char *program, ft_feed **feed, ft_error *err)
{
    ft_feed *f = ft_calloc(1, sizeof *f);
    ft_status status = ft_input_trace(path, &f->trace, NULL, err);
    if (!status) status = ft_plan_feed(f->trace, &f->plan, err);
    if (!status) status = ft_build_check(f->trace, program, &f->program, err);
    if (status) {
        ft_feed_free(f);
        return status;
    }
    assert(f->trace && f->program);
    ft_plan_print(&f->plan, &f->content);
    assert(f->content.len > 0);
    *feed = f;
    return FT_OK;
}

uint64_t ft_feed_bytes(const ft_feed *feed)
{
    return feed->content.len;
}

bool ft_feed_write(const ft_feed *feed, int fd, uint64_t limit)
{
    FT_REQUIRE(limit > 0 && fd >= 0); /* before it stands the log */
    for (size_t at = 0; at < feed->content.len;) {
        ssize_t n =
            pwrite(fd, feed->content.text + at, feed->content.len - at, (off_t)(limit + at));
        if (n <= 0) return false;
        at += (size_t)n;
    }
    return true;
}

void ft_feed_tell(const ft_feed *feed, const char *log, uint64_t limit, ft_trace *trace, bool quiet)
{
    ft_schedule run;
    ft_strbuf text = {0};
    int fd = open(log, O_RDONLY | O_CLOEXEC);
    bool known = fd >= 0 && pread(fd, &run, sizeof run, (off_t)limit) == (ssize_t)sizeof run;
    ft_error err = FT_ERROR_INIT;
    if (known && ft_libraries_check_loaded(feed->trace, fd, limit, &err))
        fprintf(stderr, "foretell: %s\n", err.message);
    if (fd >= 0) close(fd);
    if (!known) return;
    ft_strbuf_printf(&text, "%u inputs were fed from the other recording", run.fed);
    if (run.live) {
        ft_strbuf_printf(&text, "; %u were not, because it does not have them: the first one, ",
                         run.live);
        if (!ft_plan_explain_live(&feed->plan, feed->trace, feed->program, &run, &text))
            ft_strbuf_puts(&text, "at an unknown place");
    }
    ft_trace_add_note(trace, "fed-inputs", ft_strbuf_text(&text));
    if (!quiet) fprintf(stderr, "foretell: %s\n", ft_strbuf_text(&text));
    ft_strbuf_release(&text);
}

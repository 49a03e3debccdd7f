#include <stdlib.h>
#include <string.h>

#include "files/files.h"
#include "remote.h"
#include "report/report.h"
#include "trace/reader.h"

/* The canonical form is fetched under the witness's own trace name, so there is no hash to compare.
 */
static ft_status fetch_trace(const ft_options *options, const char *hash, ft_trace **trace,
                             ft_error *err)
{
    ft_remote remote = {0};
    ft_reply reply = {0};
    ft_status status = ft_remote_open(options, false, &remote, err);
    if (status == FT_USAGE) {
        *err = (ft_error)FT_ERROR_INIT;
        return ft_error_set(
            err, FT_USAGE,
            "no trace: give its file after the witness, or the server that stores it "
            "(--server http://HOST:PORT, FORETELL_SERVER)");
    }
    if (status) return status;
    char *path = ft_job_path("traces", hash, "/content");
    ft_request request = {.method = "GET", .path = path};
    status = ft_client_send(remote.client, &request, &reply, err);
    if (!status)
        status = ft_trace_read_memory(ft_strbuf_text(&reply.body), reply.body.len, trace, err);
    free(path);
    ft_reply_release(&reply);
    ft_remote_close(&remote);
    return status;
}

ft_status ft_job_trace(const ft_options *options, const json_t *witness, const char *path,
                       ft_trace **trace, ft_error *err)
{
    const char *want = ft_json_text(witness, "trace", NULL);
    if (!want) return ft_error_set(err, FT_INPUT, "the witness does not name a trace");
    if (!path) return fetch_trace(options, want, trace, err);
    char hash[FT_DIGEST_HEX + 1];
    ft_status status = ft_input_trace(path, trace, hash, err);
    if (status || strcmp(hash, want) == 0) return status;
    ft_trace_free(*trace);
    *trace = NULL;
    return ft_error_set(err, FT_INPUT,
                        "is not the witness's trace: its content has SHA-256 %.16s..., the witness "
                        "is for %.16s...",
                        hash, want);
}

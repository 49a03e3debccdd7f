/* foretell-webhook: makes one delivery. Started by foretelld; see webhooks/sender/send.h. */
#include <curl/curl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/prctl.h>

#include "webhooks/sender/send.h"

int main(void)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGPIPE, SIG_IGN);
    json_error_t where;
    json_t *request = json_loadf(stdin, 0, &where);
    if (!request) {
        fprintf(stderr,
                "foretell-webhook: started by foretelld, with a request on its standard "
                "input: %s\n",
                where.text);
        return 2;
    }
    curl_global_init(CURL_GLOBAL_DEFAULT);
    ft_send_confine();
    json_t *result = ft_send(request);
    bool written = json_dumpf(result, stdout, JSON_COMPACT) == 0 && fflush(stdout) == 0;
    json_decref(result);
    json_decref(request);
    curl_global_cleanup();
    return written ? 0 : 1;
}

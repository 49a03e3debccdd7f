/* Uploads that were received completely: a worker reads them, and clients may wait for it.
 *
 * POST /v1/traces and /v1/programs wait for the end, or for the time of Prefer: wait; GET
 * /v1/uploads/{upload} shows the progress. Ended uploads are remembered for a while, at most until
 * the daemon stops. */
#ifndef FT_API_UPLOADS_H
#define FT_API_UPLOADS_H

#include "api/internal.h"
#include "base/digest.h"
#include "store/store.h"

typedef struct ft_upload_waiter ft_upload_waiter;
typedef struct ft_upload_sharing ft_upload_sharing;

struct ft_upload {
    ft_api *api;
    ft_http_request *request; /* of the POST until others wait with it */
    char project[FT_PROJECT_LENGTH + 1];
    char hash[FT_DIGEST_HEX + 1]; /* of the decoded bytes */
    bool program;                 /* else a trace */
    int fd;                       /* -1: handed on */
    uint64_t bytes;
    ft_digest digest;
    ft_ingest *ingest;          /* NULL: not begun, or over */
    ft_upload_sharing *sharing; /* after that, until its project has it */
    bool ended;
    ft_error error; /* of one that ended without a trace */
    ft_upload_waiter *waiters;
    ft_upload *next;
};

void ft_upload_free(ft_upload *upload);
/* True: no further upload may be read now; the request was answered with a 503. */
bool ft_uploads_full(ft_api *api, ft_http_request *request);
/* Hands a received upload to the dispatcher. Its POST is answered from here on. */
void ft_upload_read(ft_upload *upload);

#endif

/* Frames: the first byte is the size of the pieces in which the rest arrives. The frames must not
 * depend on it. */
#include <stdlib.h>

#include "wire/wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct summary {
    size_t frames, bytes, objects;
    ft_status status;
} summary;

static void count_json(const ft_wire_frame *frame, summary *s)
{
    json_t *json;
    ft_error err = FT_ERROR_INIT;
    if (!ft_wire_is_json(frame->type) || ft_wire_json(frame, &json, NULL) != FT_OK) return;
    s->objects++;
    ft_wire_error_from_json(json, &err);
    if (err.code == FT_OK) abort();
    json_decref(json);
}

static summary decode(const uint8_t *data, size_t size, size_t piece)
{
    summary s = {0, 0, 0, FT_OK};
    ft_wire_decoder decoder = {0};
    for (size_t at = 0; at < size && s.status == FT_OK; at += piece) {
        bool have = true;
        ft_wire_decoder_feed(&decoder, data + at, size - at < piece ? size - at : piece);
        while (have) {
            ft_wire_frame frame;
            s.status = ft_wire_decoder_next(&decoder, &frame, &have, NULL);
            if (s.status != FT_OK) break;
            if (!have) break;
            s.frames++;
            s.bytes += frame.length;
            count_json(&frame, &s);
        }
    }
    ft_wire_decoder_release(&decoder);
    return s;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2) return 0;
    summary whole = decode(data + 1, size - 1, size - 1);
    summary parts = decode(data + 1, size - 1, data[0] ? data[0] : 1);
    if (whole.frames != parts.frames || whole.bytes != parts.bytes ||
        whole.objects != parts.objects || whole.status != parts.status)
        abort();
    return 0;
}

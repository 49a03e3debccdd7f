/* Content codings (RFC 9110 §8.4.1) of request bodies, decoded while they stream. */
#ifndef FT_HTTP_DECODE_H
#define FT_HTTP_DECODE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

#define FT_DECODE_WINDOW_LOG 23 /* zstd: windows up to 8 MiB (RFC 9659) */

typedef struct ft_decoder ft_decoder;

/* One coding by name ("gzip", "x-gzip", "zstd"), case-insensitive; *decoder is NULL for "identity".
 * FT_UNSUPPORTED: any other, or several. */
ft_status ft_decoder_new(const char *coding, ft_decoder **decoder, ft_error *err) FT_MUST_CHECK;
void ft_decoder_free(ft_decoder *decoder); /* accepts NULL */

/* The next input; it must stay valid until it is used up (ft_decoder_pull gives 0 bytes). */
void ft_decoder_push(ft_decoder *decoder, const void *data, size_t length);
/* The next decoded bytes; *out == 0: all input is used up. FT_INPUT with the offset in the encoded
 * stream: corrupt. */
ft_status ft_decoder_pull(ft_decoder *decoder, void *to, size_t capacity, size_t *out,
                          ft_error *err) FT_MUST_CHECK;
/* At the end of the input: FT_INPUT when the stream was cut. */
ft_status ft_decoder_end(const ft_decoder *decoder, ft_error *err) FT_MUST_CHECK;

#endif

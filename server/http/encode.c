/* Content codings of answers (RFC 9110 §8.4, §12.5.3). */
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <zlib.h>
#include <zstd.h>

#include "http/internal.h"

/* Below, the head outweighs what is saved. Above, the loop's thread would stand still too long. */
#define LEAST     1024
#define MOST_ZSTD (16u << 20)
#define MOST_GZIP (2u << 20)

/* Whether "coding;q=..." has a weight that is not zero. */
static bool has_weight(const char *from, const char *to)
{
    const char *q = memchr(from, ';', (size_t)(to - from));
    if (!q) return true;
    q += 1 + strspn(q + 1, " \t");
    if (strncasecmp(q, "q=", 2) != 0) return true;
    for (q += 2; q < to; q++)
        if (*q >= '1' && *q <= '9') return true;
    return false;
}

bool ft_http_accepts_coding(ft_http_request *request, const char *coding)
{
    const char *at = ft_http_header(request, "accept-encoding");
    size_t wanted = strlen(coding);
    bool any = false;
    while (at && *at) {
        at += strspn(at, " \t,");
        size_t length = strcspn(at, ",");
        size_t name = strcspn(at, ",; \t");
        bool weighs = has_weight(at, at + length);
        if (name == wanted && strncasecmp(at, coding, name) == 0) return weighs;
        if (name == 1 && *at == '*') any = weighs;
        at += length;
    }
    return any;
}

static bool is_text(const char *type)
{
    return type && (strncmp(type, "text/", 5) == 0 || strncmp(type, "application/json", 16) == 0 ||
                    strstr(type, "+json") || strstr(type, "+xml"));
}

static bool pack_zstd(const void *body, size_t length, ft_strbuf *packed)
{
    size_t bound = ZSTD_compressBound(length);
    char *out = ft_alloc(bound);
    size_t got = ZSTD_compress(out, bound, body, length, 1);
    if (!ZSTD_isError(got)) ft_strbuf_add(packed, out, got);
    free(out);
    return packed->len > 0;
}

static bool pack_gzip(const void *body, size_t length, ft_strbuf *packed)
{
    z_stream stream = {.zalloc = Z_NULL};
    if (deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        return false;
    size_t bound = deflateBound(&stream, length);
    char *out = ft_alloc(bound);
    stream.next_in = (unsigned char *)(uintptr_t)body;
    stream.avail_in = (uInt)length;
    stream.next_out = (unsigned char *)out;
    stream.avail_out = (uInt)bound;
    if (deflate(&stream, Z_FINISH) == Z_STREAM_END) ft_strbuf_add(packed, out, stream.total_out);
    deflateEnd(&stream);
    free(out);
    return packed->len > 0;
}

static const struct {
    const char *name;
    size_t most;
    bool (*pack)(const void *body, size_t length, ft_strbuf *packed);
} CODINGS[] = {{"zstd", MOST_ZSTD, pack_zstd}, {"gzip", MOST_GZIP, pack_gzip}};

/* RFC 9110 §8.8.3: a strong tag would claim that the bytes are those of the plain answer. */
static void weaken_tag(ft_http_request *request)
{
    static const char STRONG[] = "ETag: \"", WEAK[] = "ETag: W/\"";
    const char *text = ft_strbuf_text(&request->headers), *at = strstr(text, STRONG);
    if (!at || (at != text && at[-1] != '\n')) return;
    ft_strbuf changed = {0};
    ft_strbuf_add(&changed, text, (size_t)(at - text));
    ft_strbuf_puts(&changed, WEAK);
    ft_strbuf_puts(&changed, at + sizeof STRONG - 1);
    ft_strbuf_release(&request->headers);
    request->headers = changed;
}

bool ft_http_encode(ft_http_request *request, const char *type, const void *body, size_t length,
                    ft_strbuf *packed)
{
    const char *set = ft_strbuf_text(&request->headers);
    if (length < LEAST || !is_text(type) || strstr(set, "Content-Encoding:")) return false;
    ft_http_set(request, "Vary", "Accept-Encoding");
    for (size_t i = 0; i < sizeof CODINGS / sizeof *CODINGS; i++) {
        if (length > CODINGS[i].most || !ft_http_accepts_coding(request, CODINGS[i].name)) continue;
        if (!CODINGS[i].pack(body, length, packed)) continue;
        ft_http_set(request, "Content-Encoding", "%s", CODINGS[i].name);
        weaken_tag(request);
        return true;
    }
    return false;
}

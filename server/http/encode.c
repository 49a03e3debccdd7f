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

/* RFC 9110 §12.4.2, in thousandths; what is malformed weighs nothing. */
static unsigned weight_of(const char *from, const char *to)
{
    const char *q = memchr(from, ';', (size_t)(to - from));
    if (!q) return 1000;
    q += 1 + strspn(q + 1, " \t");
    if (strncasecmp(q, "q=", 2) != 0) return 1000;
    q += 2;
    if (*q == '1') return 1000;
    if (*q != '0' || q[1] != '.') return 0;
    unsigned weight = 0, digit = 100;
    for (q += 2; q < to && *q >= '0' && *q <= '9'; q++, digit /= 10)
        weight += digit * (unsigned)(*q - '0');
    return weight;
}

/* What Accept-Encoding gives a coding; `absent` where it says nothing of it. */
static unsigned coding_weight(const char *accept, const char *coding, unsigned absent)
{
    size_t wanted = strlen(coding);
    while (accept && *accept) {
        accept += strspn(accept, " \t,");
        size_t length = strcspn(accept, ","), name = strcspn(accept, ",; \t");
        unsigned weight = weight_of(accept, accept + length);
        if (name == wanted && strncasecmp(accept, coding, name) == 0) return weight;
        if (name == 1 && *accept == '*') absent = weight;
        accept += length;
    }
    return absent;
}

bool ft_http_accepts_coding(ft_http_request *request, const char *coding)
{
    return coding_weight(ft_http_header(request, "accept-encoding"), coding, 0) > 0;
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
#define N_CODINGS (sizeof CODINGS / sizeof *CODINGS)

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

/* The coding that the client likes best, if it likes it no less than none; N_CODINGS: none. */
static size_t choose(const char *accept, size_t length)
{
    unsigned identity = coding_weight(accept, "identity", 1), best = identity;
    size_t chosen = N_CODINGS;
    if (length < LEAST && identity > 0) return N_CODINGS;
    for (size_t i = 0; i < N_CODINGS; i++) {
        unsigned weight = coding_weight(accept, CODINGS[i].name, 0);
        if (weight == 0 || weight < best || length > CODINGS[i].most) continue;
        if (chosen != N_CODINGS && weight == best) continue;
        chosen = i;
        best = weight;
    }
    return chosen;
}

bool ft_http_encode(ft_http_request *request, const char *type, const void *body, size_t length,
                    ft_strbuf *packed)
{
    const char *accept = ft_http_header(request, "accept-encoding");
    if (length >= LEAST && is_text(type)) ft_http_vary(request, "Accept-Encoding");
    if (!accept || !length || !is_text(type) ||
        strstr(ft_strbuf_text(&request->headers), "Content-Encoding:"))
        return false;
    size_t i = choose(accept, length);
    if (i == N_CODINGS || !CODINGS[i].pack(body, length, packed)) return false;
    ft_http_vary(request, "Accept-Encoding");
    ft_http_set(request, "Content-Encoding", "%s", CODINGS[i].name);
    weaken_tag(request);
    return true;
}

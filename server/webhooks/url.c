#include <string.h>
#include <strings.h>

#include "base/address.h"
#include "base/digest.h"
#include "webhooks/webhooks.h"

static const char *after_scheme(const char *url)
{
    static const char *const SCHEMES[] = {"http://", "https://"};
    for (size_t i = 0; i < sizeof SCHEMES / sizeof *SCHEMES; i++)
        if (strncasecmp(url, SCHEMES[i], strlen(SCHEMES[i])) == 0) return url + strlen(SCHEMES[i]);
    return NULL;
}

static bool is_visible(const char *text)
{
    for (; *text; text++)
        if (*text <= ' ' || *text > '~' || *text == '\\') return false;
    return true;
}

/* The port goes; so does the dot that ends an absolute name. */
static size_t host_length(const char *host, size_t authority)
{
    const char *bracket = *host == '[' ? memchr(host, ']', authority) : NULL;
    const char *colon = bracket ? NULL : memchr(host, ':', authority);
    size_t length = bracket ? (size_t)(bracket - host) + 1 : authority;
    if (colon) length = (size_t)(colon - host);
    return length > 1 && host[length - 1] == '.' ? length - 1 : length;
}

static bool ends_in(const char *text, const char *end)
{
    size_t length = strlen(text), least = strlen(end);
    return length >= least && strcasecmp(text + length - least, end) == 0;
}

static ft_status check_host(const char *host, ft_error *err)
{
    bool number, local = strcasecmp(host, "localhost") == 0 || ends_in(host, ".localhost");
    if (!local && ft_host_is_public(host, &number)) return FT_OK;
    return ft_error_set(err, FT_USAGE,
                        "a webhook must not go to %.64s: it is not an address of the public "
                        "internet (webhook-allow-private)",
                        host);
}

ft_status ft_webhook_url_check(const char *url, bool private_allowed, ft_error *err)
{
    char host[256];
    const char *from = after_scheme(url);
    if (!from || strlen(url) > FT_WEBHOOK_URL || !is_visible(url))
        return ft_error_set(err, FT_USAGE,
                            "a webhook must be an http or https URL of at most %d visible ASCII "
                            "characters",
                            FT_WEBHOOK_URL);
    size_t authority = strcspn(from, "/?#");
    if (memchr(from, '@', authority))
        return ft_error_set(err, FT_USAGE,
                            "a webhook's URL must not contain a user name or password");
    size_t length = host_length(from, authority);
    if (length == 0 || length >= sizeof host)
        return ft_error_set(err, FT_USAGE, "a webhook's URL needs a host");
    memcpy(host, from, length);
    host[length] = '\0';
    return private_allowed ? FT_OK : check_host(host, err);
}

void ft_webhook_sign(const char *secret, int64_t seconds, const char *body, ft_strbuf *out)
{
    char stamp[32], hex[FT_DIGEST_HEX + 1];
    ft_hmac hmac;
    int length = snprintf(stamp, sizeof stamp, "%lld.", (long long)seconds);
    ft_hmac_init(&hmac, secret, strlen(secret));
    ft_hmac_update(&hmac, stamp, (size_t)length);
    ft_hmac_update(&hmac, body, strlen(body));
    ft_hmac_hex(&hmac, hex);
    ft_strbuf_printf(out, "t=%lld,v1=%s", (long long)seconds, hex);
}

/* libcurl and the thirty libraries behind it take ten milliseconds to load, more than recording a
 * small program does. Few commands speak HTTP: it is loaded at the first call. The functions have
 * libcurl's names, so that nobody who calls them needs to know. */
#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#undef curl_easy_setopt
#undef curl_easy_getinfo

#define LIBRARY "libcurl.so.4"

static void *library;

static void load(void)
{
    library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (library) return;
    fprintf(stderr, "foretell: %s\n", dlerror());
    exit(EXIT_FAILURE);
}

static void *find(const char *name)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    void *found = dlsym(library, name);
    if (found) return found;
    fprintf(stderr, "foretell: %s\n", dlerror());
    exit(EXIT_FAILURE);
}

/* The library's function of that name. */
#define REAL(name) ((__typeof__(&(name)))find(#name))

CURLcode curl_global_init(long flags)
{
    return REAL(curl_global_init)(flags);
}

CURL *curl_easy_init(void)
{
    return REAL(curl_easy_init)();
}

void curl_easy_cleanup(CURL *handle)
{
    REAL(curl_easy_cleanup)(handle);
}

void curl_easy_reset(CURL *handle)
{
    REAL(curl_easy_reset)(handle);
}

/* Options are long, curl_off_t or a pointer: all pass as one word. */
CURLcode curl_easy_setopt(CURL *handle, CURLoption option, ...)
{
    va_list values;
    va_start(values, option);
    void *value = va_arg(values, void *);
    va_end(values);
    return REAL(curl_easy_setopt)(handle, option, value);
}

CURLcode curl_easy_getinfo(CURL *handle, CURLINFO info, ...)
{
    va_list values;
    va_start(values, info);
    void *value = va_arg(values, void *);
    va_end(values);
    return REAL(curl_easy_getinfo)(handle, info, value);
}

const char *curl_easy_strerror(CURLcode code)
{
    return REAL(curl_easy_strerror)(code);
}

char *curl_easy_escape(CURL *handle, const char *text, int length)
{
    return REAL(curl_easy_escape)(handle, text, length);
}

void curl_free(void *memory)
{
    REAL(curl_free)(memory);
}

struct curl_slist *curl_slist_append(struct curl_slist *list, const char *text)
{
    return REAL(curl_slist_append)(list, text);
}

void curl_slist_free_all(struct curl_slist *list)
{
    REAL(curl_slist_free_all)(list);
}

CURLM *curl_multi_init(void)
{
    return REAL(curl_multi_init)();
}

CURLMcode curl_multi_cleanup(CURLM *multi)
{
    return REAL(curl_multi_cleanup)(multi);
}

CURLMcode curl_multi_add_handle(CURLM *multi, CURL *handle)
{
    return REAL(curl_multi_add_handle)(multi, handle);
}

CURLMcode curl_multi_remove_handle(CURLM *multi, CURL *handle)
{
    return REAL(curl_multi_remove_handle)(multi, handle);
}

CURLMcode curl_multi_perform(CURLM *multi, int *running)
{
    return REAL(curl_multi_perform)(multi, running);
}

CURLMsg *curl_multi_info_read(CURLM *multi, int *left)
{
    return REAL(curl_multi_info_read)(multi, left);
}

CURLMcode curl_multi_poll(CURLM *multi, struct curl_waitfd extra[], unsigned n, int wait,
                          int *ready)
{
    return REAL(curl_multi_poll)(multi, extra, n, wait, ready);
}

/* The functions of the C library that the program's calls are linked away from, to the runtime's
 * (runtime/access.c, strings.c, format.c and results.c there); the compiler must not put code of
 * its own in their place.
 */
#ifndef FT_RECORD_WRAPPED_H
#define FT_RECORD_WRAPPED_H

#define FT_WRAPPED_TABLE(X)                                                                        \
    X(memcpy)                                                                                      \
    X(memmove)                                                                                     \
    X(memset)                                                                                      \
    X(memcmp)                                                                                      \
    X(bcmp)                                                                                        \
    X(memchr)                                                                                      \
    X(memrchr)                                                                                     \
    X(mempcpy)                                                                                     \
    X(bcopy)                                                                                       \
    X(bzero)                                                                                       \
    X(strlen)                                                                                      \
    X(strnlen)                                                                                     \
    X(strcmp)                                                                                      \
    X(strncmp)                                                                                     \
    X(strcasecmp)                                                                                  \
    X(strncasecmp)                                                                                 \
    X(strchr)                                                                                      \
    X(strchrnul)                                                                                   \
    X(strrchr)                                                                                     \
    X(strstr)                                                                                      \
    X(strspn)                                                                                      \
    X(strcspn)                                                                                     \
    X(strpbrk)                                                                                     \
    X(strtol)                                                                                      \
    X(strtoul)                                                                                     \
    X(strtoll)                                                                                     \
    X(strtoull)                                                                                    \
    X(strtod)                                                                                      \
    X(strtof)                                                                                      \
    X(atoi)                                                                                        \
    X(atol)                                                                                        \
    X(atoll)                                                                                       \
    X(atof)                                                                                        \
    X(strcpy)                                                                                      \
    X(stpcpy)                                                                                      \
    X(strncpy)                                                                                     \
    X(stpncpy)                                                                                     \
    X(strcat)                                                                                      \
    X(strncat)                                                                                     \
    X(strdup)                                                                                      \
    X(strndup)                                                                                     \
    X(vsnprintf)                                                                                   \
    X(vsprintf)                                                                                    \
    X(snprintf)                                                                                    \
    X(sprintf)                                                                                     \
    X(vfprintf)                                                                                    \
    X(vprintf)                                                                                     \
    X(vdprintf)                                                                                    \
    X(fprintf)                                                                                     \
    X(printf)                                                                                      \
    X(dprintf)                                                                                     \
    X(fwrite)                                                                                      \
    X(fputs)                                                                                       \
    X(puts)                                                                                        \
    X(asprintf)                                                                                    \
    X(vasprintf)                                                                                   \
    X(realpath)                                                                                    \
    X(strtok_r)                                                                                    \
    X(strsep)                                                                                      \
    X(memccpy)                                                                                     \
    X(memmem)                                                                                      \
    X(explicit_bzero)                                                                              \
    X(gmtime_r)                                                                                    \
    X(localtime_r)                                                                                 \
    X(asctime_r)                                                                                   \
    X(ctime_r)                                                                                     \
    X(mktime)                                                                                      \
    X(timegm)                                                                                      \
    X(strftime)                                                                                    \
    X(strptime)                                                                                    \
    X(inet_ntop)                                                                                   \
    X(inet_pton)                                                                                   \
    X(strerror_r)                                                                                  \
    X(regexec)                                                                                     \
    X(rand_r)                                                                                      \
    X(modf)                                                                                        \
    X(frexp)                                                                                       \
    X(wcslen)                                                                                      \
    X(wcscpy)                                                                                      \
    X(wcscat)                                                                                      \
    X(wmemcpy)                                                                                     \
    X(vswprintf)                                                                                   \
    X(swprintf)                                                                                    \
    X(mbstowcs)                                                                                    \
    X(wcstombs)                                                                                    \
    X(qsort)                                                                                       \
    X(syscall)

#endif

/* The functions of the C library that the program's calls are linked away from, to the runtime's
 * (runtime/access.c, runtime/strings.c); the compiler must not put code of its own in their place.
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
    X(qsort)                                                                                       \
    X(syscall)

#endif

/* Functions of libstdc++ that access the program's memory and that are stood in front of: what they
 * access is said before the real one does it. */
#include <stdbool.h>
#include <stddef.h>

#include "runtime.h"

#define CODE __builtin_return_address(0)
/* Looked up where it is first called: C programs have none of them. */
#define REAL(type, name)                                                                           \
    ({                                                                                             \
        static void *real;                                                                         \
        if (!real) real = ft_rt_real(name);                                                        \
        (type) real;                                                                               \
    })

#define OSTREAM_INSERT                                                                             \
    "_ZSt16__ostream_insertIcSt11char_traitsIcEERSt13basic_ostreamIT_T0_ES6_PKS3_l"
#define HASH_BYTES  "_ZSt11_Hash_bytesPKvmm"
#define NEXT_BUCKET "_ZNKSt8__detail20_Prime_rehash_policy11_M_next_bktEm"
#define NEED_REHASH "_ZNKSt8__detail20_Prime_rehash_policy14_M_need_rehashEmmm"

/* When unordered containers grow (bits/hashtable_policy.h). */
typedef struct policy {
    float load;
    size_t next_resize;
} policy;
typedef struct growth {
    bool wanted;
    size_t buckets;
} growth;

void *ft_ostream_insert(void *stream, const char *text, ptrdiff_t n) __asm__(OSTREAM_INSERT);
size_t ft_hash_bytes(const void *memory, size_t n, size_t seed) __asm__(HASH_BYTES);
size_t ft_next_bucket(policy *p, size_t n) __asm__(NEXT_BUCKET);
growth ft_need_rehash(policy *p, size_t buckets, size_t elements, size_t more) __asm__(NEED_REHASH);

void *ft_ostream_insert(void *stream, const char *text, ptrdiff_t n)
{
    if (n > 0) ft_rt_read_range(text, (size_t)n, CODE);
    return REAL(void *(*)(void *, const char *, ptrdiff_t), OSTREAM_INSERT)(stream, text, n);
}

size_t ft_hash_bytes(const void *memory, size_t n, size_t seed)
{
    if (n) ft_rt_read_range(memory, n, CODE);
    return REAL(size_t(*)(const void *, size_t, size_t), HASH_BYTES)(memory, n, seed);
}

size_t ft_next_bucket(policy *p, size_t n)
{
    if (n) { /* else it keeps what it has */
        ft_rt_read_range(&p->load, sizeof p->load, CODE);
        ft_rt_write_range(&p->next_resize, sizeof p->next_resize, CODE);
    }
    return REAL(size_t(*)(policy *, size_t), NEXT_BUCKET)(p, n);
}

growth ft_need_rehash(policy *p, size_t buckets, size_t elements, size_t more)
{
    ft_rt_read_range(&p->next_resize, sizeof p->next_resize, CODE);
    if (elements + more > p->next_resize) {
        ft_rt_read_range(&p->load, sizeof p->load, CODE);
        ft_rt_write_range(&p->next_resize, sizeof p->next_resize, CODE);
    }
    return REAL(growth(*)(policy *, size_t, size_t, size_t), NEED_REHASH)(p, buckets, elements,
                                                                          more);
}

#include "base/digest_blocks.h"

#if defined(__x86_64__)

#include <cpuid.h>
#include <immintrin.h>
#include <stdbool.h>

/* The instructions take the state as the words A B E F and C D G H, from high to low. */
#define OF_SHA __attribute__((target("sha,sse4.1")))

OF_SHA static __m128i load(const void *from)
{
    return _mm_loadu_si128((const __m128i *)from);
}

/* The next four words of the message schedule; they replace the oldest ones. */
OF_SHA static __m128i next_words(const __m128i w[4], int oldest)
{
    __m128i newest = w[(oldest + 3) % 4];
    __m128i sum = _mm_sha256msg1_epu32(w[oldest], w[(oldest + 1) % 4]);
    sum = _mm_add_epi32(sum, _mm_alignr_epi8(newest, w[(oldest + 2) % 4], 4));
    return _mm_sha256msg2_epu32(sum, newest);
}

OF_SHA static void take_block(__m128i *abef, __m128i *cdgh, const unsigned char *block)
{
    const __m128i big_endian = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
    __m128i w[4], x = *abef, y = *cdgh;
    for (int four = 0; four < 16; four++) {
        __m128i *words = &w[four % 4];
        *words = four < 4 ? _mm_shuffle_epi8(load(block + 16 * four), big_endian)
                          : next_words(w, four % 4);
        __m128i sum = _mm_add_epi32(*words, load(&ft_digest_constants[4 * four]));
        y = _mm_sha256rnds2_epu32(y, x, sum);
        x = _mm_sha256rnds2_epu32(x, y, _mm_shuffle_epi32(sum, 0x0E));
    }
    *abef = _mm_add_epi32(*abef, x);
    *cdgh = _mm_add_epi32(*cdgh, y);
}

OF_SHA static void take_blocks(uint32_t state[8], const unsigned char *blocks, size_t n)
{
    __m128i badc = _mm_shuffle_epi32(load(state), 0xB1);
    __m128i hgfe = _mm_shuffle_epi32(load(state + 4), 0x1B);
    __m128i abef = _mm_alignr_epi8(badc, hgfe, 8), cdgh = _mm_blend_epi16(hgfe, badc, 0xF0);
    for (size_t i = 0; i < n; i++) take_block(&abef, &cdgh, blocks + 64 * i);
    __m128i feba = _mm_shuffle_epi32(abef, 0x1B), dchg = _mm_shuffle_epi32(cdgh, 0xB1);
    _mm_storeu_si128((__m128i *)state, _mm_blend_epi16(feba, dchg, 0xF0));
    _mm_storeu_si128((__m128i *)(state + 4), _mm_alignr_epi8(dchg, feba, 8));
}

static bool has_them(void)
{
    unsigned a, b, c, d;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_SSE4_1) || !(c & bit_SSSE3)) return false;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) && b & bit_SHA;
}

ft_digest_blocks *ft_digest_own(void)
{
    return has_them() ? take_blocks : NULL;
}

#else

ft_digest_blocks *ft_digest_own(void)
{
    return NULL;
}

#endif

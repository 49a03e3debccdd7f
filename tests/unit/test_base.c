/* Memory, maps, strings, statuses and digests. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/closest.h"
#include "base/digest.h"
#include "base/digest_blocks.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/strbuf.h"

/* ---- digest: the examples of FIPS 180-4 ---- */

static void expect_digest(const char *piece, size_t times, const char *expected)
{
    char hex[FT_DIGEST_HEX + 1];
    ft_digest digest;
    ft_digest_init(&digest);
    for (size_t i = 0; i < times; i++) ft_digest_update(&digest, piece, strlen(piece));
    ft_digest_hex(&digest, hex);
    assert_string_equal(hex, expected);
}

static void test_digest(void **state)
{
    (void)state;
    expect_digest("", 1, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    expect_digest("abc", 1, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    expect_digest("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 1,
                  "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    expect_digest("a", 1000000, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    expect_digest("aaaaaaa", 142857, /* one a short of the million */
                  "6c7aaf9baa56d59e3651f608e2fb587688382cbc78c8b39abbdb916a00a52098");
}

/* The processor's own instructions say what the plain way does. */
static void test_digest_own(void **state)
{
    unsigned char text[9 * 64];
    uint64_t random = 1;
    ft_digest_blocks *own = ft_digest_own();
    (void)state;
    if (!own) skip();
    for (int trial = 0; trial < 200; trial++) {
        uint32_t a[8], b[8];
        for (size_t i = 0; i < sizeof text; i++)
            text[i] = (unsigned char)(random = ft_hash_u64(random + i));
        for (int i = 0; i < 8; i++) a[i] = b[i] = (uint32_t)(random = ft_hash_u64(random + 8));
        ft_digest_plain(a, text, (size_t)trial % 10);
        own(b, text, (size_t)trial % 10);
        assert_memory_equal(a, b, sizeof a);
    }
}

/* Any way of cutting the input gives the same digest. */
static void test_digest_pieces(void **state)
{
    char text[300], whole[FT_DIGEST_HEX + 1];
    ft_digest digest;
    (void)state;
    for (size_t i = 0; i < sizeof text; i++) text[i] = (char)(i * 7);
    ft_digest_init(&digest);
    ft_digest_update(&digest, text, sizeof text);
    ft_digest_hex(&digest, whole);
    for (size_t cut = 0; cut <= sizeof text; cut++) {
        char hex[FT_DIGEST_HEX + 1];
        ft_digest_init(&digest);
        ft_digest_update(&digest, text, cut);
        ft_digest_update(&digest, text + cut, sizeof text - cut);
        ft_digest_hex(&digest, hex);
        assert_string_equal(hex, whole);
    }
}

/* ---- maps ---- */

enum { KEYS = 5000 };

/* Keys that differ in high bits only and keys near each other, against a plain array. */
static uint64_t key_of(uint32_t i)
{
    return i % 2 ? (uint64_t)i << 40 : i;
}

static void test_map(void **state)
{
    static uint64_t expected[KEYS];
    static bool present[KEYS];
    ft_map map = {0};
    uint64_t value;
    size_t count = 0;
    (void)state;
    assert_false(ft_map_get(&map, 0, &value));
    for (uint32_t step = 0; step < 4 * KEYS; step++) {
        uint32_t i = (uint32_t)(((uint64_t)step * 7919u) % KEYS);
        if (step % 3 == 0) continue;
        bool inserted = false;
        if (step % 2) {
            *ft_map_slot(&map, key_of(i), 100, &inserted) += step;
            assert_int_equal(inserted, !present[i]);
            expected[i] = (present[i] ? expected[i] : 100) + step;
        } else {
            ft_map_put(&map, key_of(i), step);
            expected[i] = step;
        }
        count += !present[i];
        present[i] = true;
    }
    assert_int_equal(map.len, count);
    for (uint32_t i = 0; i < KEYS; i++) {
        assert_int_equal(ft_map_get(&map, key_of(i), &value), present[i]);
        if (present[i]) assert_int_equal(value, expected[i]);
    }
    assert_false(ft_map_get(&map, UINT64_MAX, NULL));
    ft_map_put(&map, UINT64_MAX, 1);
    assert_true(ft_map_get(&map, UINT64_MAX, NULL));
    ft_map_release(&map);
    assert_false(ft_map_get(&map, UINT64_MAX, NULL));
    ft_map_release(&map);
}

/* Each way to break the invariant is seen, and put right again it is sound. */
static void test_map_sound(void **state)
{
    ft_map map = {0};
    size_t full = 0;
    (void)state;
    assert_true(ft_map_is_sound(&map));
    for (uint32_t i = 0; i < 100; i++) ft_map_put(&map, i, i);
    assert_true(ft_map_is_sound(&map));
    while (!map.full[full]) full++;
    map.len--;
    assert_false(ft_map_is_sound(&map));
    map.len++;
    map.keys[full] += 1000000;
    assert_false(ft_map_is_sound(&map));
    map.keys[full] -= 1000000;
    map.full[full] = 0;
    assert_false(ft_map_is_sound(&map));
    map.full[full] = 1;
    map.cap--;
    assert_false(ft_map_is_sound(&map));
    map.cap++;
    assert_true(ft_map_is_sound(&map));
    ft_map_release(&map);
}

static void test_intern_sound(void **state)
{
    ft_intern table = {0};
    (void)state;
    assert_true(ft_intern_is_sound(&table));
    for (char c = 'a'; c <= 'z'; c++) ft_intern_add(&table, &c, 1);
    assert_true(ft_intern_is_sound(&table));
    table.names[3][0] = 'e'; /* the name of 4 too */
    assert_false(ft_intern_is_sound(&table));
    table.names[3][0] = 'd';
    table.hashes[3] ^= 1;
    assert_false(ft_intern_is_sound(&table));
    table.hashes[3] ^= 1;
    assert_true(ft_intern_is_sound(&table));
    ft_intern_release(&table);
}

static void test_intern(void **state)
{
    ft_intern table = {0};
    (void)state;
    assert_int_equal(ft_intern_find(&table, "a", 1), FT_NO_ID);
    for (int pass = 0; pass < 2; pass++)
        for (uint32_t i = 0; i < 1000; i++) {
            char name[4] = {(char)('a' + i / 100), (char)('a' + i / 10 % 10), (char)('a' + i % 10)};
            assert_int_equal(ft_intern_add(&table, name, 3), i);
        }
    assert_int_equal(table.len, 1000);
    assert_int_equal(ft_intern_find(&table, "jji", 3), 998);
    ft_intern_release(&table);
    assert_int_equal(ft_intern_add(&table, "ab", 2), 0);
    assert_int_equal(ft_intern_add(&table, "a", 1), 1);
    assert_int_equal(ft_intern_add(&table, "", 0), 2);
    assert_int_equal(ft_intern_add(&table, "a\0b", 3), 3);
    assert_int_equal(ft_intern_add(&table, "abc", 2), 0);
    assert_int_equal(ft_intern_find(&table, "a\0c", 3), FT_NO_ID);
    assert_int_equal(ft_intern_find(&table, "", 0), 2);
    assert_string_equal(table.names[0], "ab");
    assert_int_equal(table.lengths[3], 3);
    ft_intern_release(&table);
}

/* ---- memory ---- */

static void test_vector(void **state)
{
    FT_VEC(uint32_t) ids = {0};
    (void)state;
    for (uint32_t i = 0; i < 10000; i++) ft_vec_push(&ids, i * 3);
    assert_int_equal(ids.len, 10000);
    assert_true(ids.cap >= ids.len);
    for (uint32_t i = 0; i < 10000; i++) assert_int_equal(ids.data[i], i * 3);
    ft_vec_release(&ids);
    assert_null(ids.data);
    assert_int_equal(ids.cap, 0);
}

static void test_grow_zeroed(void **state)
{
    (void)state;
    uint32_t cap = 0;
    uint64_t *cells = ft_grow_zeroed(NULL, &cap, 3, sizeof *cells);
    assert_true(cap >= 3);
    for (uint32_t i = 0; i < cap; i++) cells[i] = i + 1;
    uint32_t before = cap;
    assert_ptr_equal(ft_grow_zeroed(cells, &cap, before, sizeof *cells), cells);
    cells = ft_grow_zeroed(cells, &cap, before + 1, sizeof *cells);
    assert_true(cap > before);
    for (uint32_t i = 0; i < cap; i++) assert_int_equal(cells[i], i < before ? i + 1 : 0);
    free(cells);
}

static void test_arena(void **state)
{
    enum { BLOCKS = 2000 };
    static unsigned char *blocks[BLOCKS];
    ft_arena *arena = ft_arena_new();
    (void)state;
    for (size_t i = 0; i < BLOCKS; i++) {
        size_t size = i % 100 == 99 ? 100000 : i % 50;
        blocks[i] = ft_arena_alloc(arena, size);
        assert_int_equal((uintptr_t)blocks[i] % 16, 0);
        memset(blocks[i], (int)(i % 251), size);
    }
    for (size_t i = 0; i < BLOCKS; i++)
        for (size_t k = 0; k < i % 50 && i % 100 != 99; k++)
            assert_int_equal(blocks[i][k], i % 251);
    assert_string_equal(ft_arena_strndup(arena, "abcdef", 3), "abc");
    assert_string_equal(ft_arena_printf(arena, "%d-%s", 7, "x"), "7-x");
    ft_arena_free(arena);
    ft_arena_free(NULL);
}

static void test_copies(void **state)
{
    char *a = ft_strdup("text"), *b = ft_strndup("text", 2);
    (void)state;
    assert_string_equal(a, "text");
    assert_string_equal(b, "te");
    free(a);
    free(b);
}

static int exit_code_of(void (*run)(void))
{
    int status;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        close(STDERR_FILENO);
        run();
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void overflow_realloc(void)
{
    free(ft_realloc(NULL, SIZE_MAX / 4, 8));
}

static void test_out_of_memory(void **state)
{
    (void)state;
    assert_int_equal(exit_code_of(overflow_realloc), FT_EXIT_NOMEM);
}

/* ---- strings ---- */

static void test_strbuf(void **state)
{
    ft_strbuf buf = {0};
    (void)state;
    assert_string_equal(ft_strbuf_text(&buf), "");
    for (int i = 0; i < 1000; i++) ft_strbuf_printf(&buf, "%d,", i);
    assert_int_equal(buf.len, 10 * 2 + 90 * 3 + 900 * 4);
    assert_memory_equal(buf.text + buf.len - 8, "998,999,", 9);
    ft_strbuf_clear(&buf);
    assert_string_equal(ft_strbuf_text(&buf), "");
    ft_strbuf_add(&buf, "a\0b", 3);
    ft_strbuf_puts(&buf, "c");
    assert_int_equal(buf.len, 4);
    assert_memory_equal(buf.text, "a\0bc", 5);
    ft_strbuf_puts(&buf, "def");
    ft_strbuf_cut(&buf, 6);
    ft_strbuf_drop(&buf, 0);
    assert_memory_equal(buf.text, "a\0bcde", 7);
    ft_strbuf_drop(&buf, 2);
    assert_string_equal(ft_strbuf_text(&buf), "bcde");
    assert_true(ft_strbuf_is_sound(&buf));
    buf.text[4] = '!';
    assert_false(ft_strbuf_is_sound(&buf));
    buf.text[4] = '\0';
    ft_strbuf_drop(&buf, 4);
    assert_string_equal(ft_strbuf_text(&buf), "");
    ft_strbuf_add(&buf, "a\0bc", 4);
    char *taken = ft_strbuf_take(&buf);
    assert_null(buf.text);
    assert_memory_equal(taken, "a\0bc", 5);
    free(taken);
    taken = ft_strbuf_take(&buf);
    assert_string_equal(taken, "");
    free(taken);
    ft_strbuf_release(&buf);
}

/* ---- statuses ---- */

static void test_status_names(void **state)
{
    (void)state;
    for (int i = 0; i < FT_STATUS_COUNT; i++)
        assert_int_equal(ft_status_from_name(ft_status_name((ft_status)i)), i);
    assert_int_equal(ft_status_from_name("no such status"), FT_INTERNAL);
    assert_int_equal(ft_status_http(FT_INPUT), 400);
    assert_int_equal(ft_status_exit_code(FT_INPUT), 2);
    assert_int_equal(ft_status_exit_code(FT_IO), 4);
    assert_int_equal(ft_status_from_errno(ENOSPC), FT_FULL);
    assert_int_equal(ft_status_from_errno(EDQUOT), FT_FULL);
    assert_int_equal(ft_status_from_errno(EIO), FT_IO);
    assert_int_equal(ft_status_http(FT_FULL), 507);
}

static void test_first_error_wins(void **state)
{
    ft_error err = FT_ERROR_INIT, offset = FT_ERROR_INIT;
    char text[1000];
    (void)state;
    assert_int_equal(ft_error_at(&err, FT_INPUT, 3, 9, "line %d", 3), FT_INPUT);
    assert_int_equal(ft_error_set(&err, FT_LIMIT, "later"), FT_LIMIT);
    assert_int_equal(err.code, FT_INPUT);
    assert_int_equal(err.line, 3);
    assert_int_equal(err.column, 9);
    assert_false(err.has_offset);
    assert_string_equal(err.message, "line 3");
    assert_int_equal(ft_error_offset(&offset, FT_INPUT, 0, "at the start"), FT_INPUT);
    assert_true(offset.has_offset);
    assert_int_equal(ft_error_set(NULL, FT_IO, "nobody listens"), FT_IO);
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = 0;
    ft_error longest = FT_ERROR_INIT;
    ft_error_set(&longest, FT_INPUT, "%s", text);
    assert_int_equal(strlen(longest.message), sizeof longest.message - 1);
}

static const char *closest_of(const char *word)
{
    static const char *const NAMES[] = {"workers", "listen", "output", "test", "top", "token-file"};
    ft_closest closest = {.word = word};
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++) ft_closest_offer(&closest, NAMES[i]);
    return closest.name;
}

static void test_closest(void **state)
{
    (void)state;
    assert_string_equal(closest_of("wrokers"), "workers"); /* two letters swapped */
    assert_string_equal(closest_of("lisen"), "listen");    /* one left out */
    assert_string_equal(closest_of("out"), "output");      /* its beginning */
    assert_string_equal(closest_of("tset"), "test");
    assert_string_equal(closest_of("tokenfile"), "token-file");
    assert_null(closest_of("frobnicate"));
    assert_null(closest_of("x"));
    assert_null(closest_of(""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_digest),           cmocka_unit_test(test_digest_own),
        cmocka_unit_test(test_digest_pieces),    cmocka_unit_test(test_map),
        cmocka_unit_test(test_intern),           cmocka_unit_test(test_vector),
        cmocka_unit_test(test_grow_zeroed),      cmocka_unit_test(test_arena),
        cmocka_unit_test(test_copies),           cmocka_unit_test(test_out_of_memory),
        cmocka_unit_test(test_strbuf),           cmocka_unit_test(test_status_names),
        cmocka_unit_test(test_first_error_wins), cmocka_unit_test(test_map_sound),
        cmocka_unit_test(test_intern_sound),     cmocka_unit_test(test_closest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

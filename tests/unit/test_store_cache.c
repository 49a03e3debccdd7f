/* The node's own copies of parts of traces. */
#include "server_support.h"

#include <dirent.h>
#include <sys/stat.h>

#include "base/digest.h"
#include "store/cache.h"

typedef struct fixture {
    char folder[64], files[80];
    ft_cache *cache;
} fixture;

static int setup(void **state)
{
    fixture *f = ft_calloc(1, sizeof *f);
    make_folder(f->folder);
    snprintf(f->files, sizeof f->files, "%s/cache", f->folder);
    f->cache = ft_cache_new(f->files, 10000);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    fixture *f = *state;
    ft_cache_free(f->cache);
    remove_folder(f->folder);
    free(f);
    return 0;
}

/* The copy of this content is there, or not. */
static void expect_part(fixture *f, const char *content, bool there)
{
    size_t length = 0;
    bool damaged = true;
    char digest[FT_DIGEST_HEX + 1];
    ft_digest_of(content, strlen(content), digest);
    char *bytes = ft_cache_read(f->cache, digest, &length, &damaged);
    assert_false(damaged);
    assert_int_equal(bytes != NULL, there);
    if (there) assert_int_equal(length, strlen(content));
    if (there) assert_memory_equal(bytes, content, length);
    free(bytes);
}

static void keep(fixture *f, const char *content)
{
    char digest[FT_DIGEST_HEX + 1];
    ft_digest_of(content, strlen(content), digest);
    ft_cache_write(f->cache, digest, content, strlen(content));
}

static void test_what_was_kept_comes_back(void **state)
{
    fixture *f = *state;
    expect_part(f, "first", false);
    keep(f, "first");
    keep(f, "");
    keep(f, "another");
    keep(f, "first"); /* one file */
    expect_part(f, "first", true);
    expect_part(f, "", true);
    expect_part(f, "another", true);
    expect_part(f, "a third", false);
    ft_cache_free(f->cache); /* the next run finds them */
    f->cache = ft_cache_new(f->files, 10000);
    expect_part(f, "first", true);
    struct stat info;
    assert_int_equal(stat(f->files, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0700);
}

/* FIPS 180-4's example: the name of a file does not depend on this program. */
#define ABC "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"

static void expect_damage(fixture *f)
{
    char path[200];
    size_t length;
    bool damaged = false;
    snprintf(path, sizeof path, "%s/" ABC, f->files);
    assert_null(ft_cache_read(f->cache, ABC, &length, &damaged));
    assert_true(damaged);
    assert_int_not_equal(access(path, F_OK), 0);
    assert_null(ft_cache_read(f->cache, ABC, &length, &damaged));
    assert_false(damaged);
    keep(f, "abc");
    expect_part(f, "abc", true);
}

static void test_damage_is_noticed(void **state)
{
    fixture *f = *state;
    char path[200];
    snprintf(path, sizeof path, "%s/" ABC, f->files);
    keep(f, "abc");
    for (long at = 0; at < 3; at++) {
        FILE *file = fopen(path, "r+");
        assert_non_null(file);
        fseek(file, at, SEEK_SET);
        fputc('x', file);
        fclose(file);
        expect_damage(f);
    }
    assert_int_equal(truncate(path, 2), 0);
    expect_damage(f);
    assert_int_equal(truncate(path, 4), 0);
    expect_damage(f);
}

static uint64_t bytes_there(const fixture *f)
{
    uint64_t bytes = 0;
    struct stat info;
    DIR *folder = opendir(f->files);
    assert_non_null(folder);
    for (const struct dirent *entry; (entry = readdir(folder));)
        if (fstatat(dirfd(folder), entry->d_name, &info, 0) == 0 && S_ISREG(info.st_mode))
            bytes += (uint64_t)info.st_size;
    closedir(folder);
    return bytes;
}

static const char *part_of(char text[1001], int number)
{
    memset(text, 'x', 1000);
    text[1000] = '\0';
    return memcpy(text, &(char){(char)('!' + number)}, 1);
}

/* The one that is used again and again stays. */
static void test_it_is_bounded(void **state)
{
    fixture *f = *state;
    char text[1001];
    keep(f, "kept");
    for (int i = 0; i < 60; i++) {
        keep(f, part_of(text, i));
        expect_part(f, "kept", true);
        assert_true(bytes_there(f) <= 10000);
        if (i % 20 == 0) { /* another run, which has to count first */
            ft_cache_free(f->cache);
            f->cache = ft_cache_new(f->files, 10000);
        }
    }
    expect_part(f, part_of(text, 59), true);
    expect_part(f, part_of(text, 0), false);
    char *large = ft_calloc(1, 20000);
    memset(large, 'y', 19999);
    keep(f, large);
    expect_part(f, large, false);
    free(large);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_what_was_kept_comes_back),
        TEST(test_damage_is_noticed),
        TEST(test_it_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

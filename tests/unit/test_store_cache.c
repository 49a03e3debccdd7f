/* The node's own copies of parts of traces. */
#include "server_support.h"

#include <dirent.h>
#include <sys/stat.h>

#include "store/cache.h"

#define A "00000000000000000000000000000000000000000000000000000000000000aa"
#define B "00000000000000000000000000000000000000000000000000000000000000bb"

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

static void expect_part(fixture *f, const char *trace, uint32_t seq, const char *content)
{
    size_t length = 0;
    char *bytes = ft_cache_read(f->cache, trace, seq, &length);
    assert_int_equal(bytes != NULL, content != NULL);
    if (content) assert_int_equal(length, strlen(content));
    if (content) assert_memory_equal(bytes, content, length);
    free(bytes);
}

static void test_what_was_kept_comes_back(void **state)
{
    fixture *f = *state;
    expect_part(f, A, 0, NULL);
    ft_cache_write(f->cache, A, 0, "first", 5);
    ft_cache_write(f->cache, A, 1, "", 0);
    ft_cache_write(f->cache, B, 0, "another", 7);
    expect_part(f, A, 0, "first");
    expect_part(f, A, 1, "");
    expect_part(f, B, 0, "another");
    expect_part(f, B, 1, NULL);
    ft_cache_free(f->cache); /* the next run finds them */
    f->cache = ft_cache_new(f->files, 10000);
    expect_part(f, A, 0, "first");
    struct stat info;
    assert_int_equal(stat(f->files, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0700);
}

static void test_damage_is_noticed(void **state)
{
    fixture *f = *state;
    char path[200];
    snprintf(path, sizeof path, "%s/%s-0", f->files, A);
    for (long at = 0; at < 69; at += 4) { /* the digest, then the content */
        ft_cache_write(f->cache, A, 0, "first", 5);
        FILE *file = fopen(path, "r+");
        assert_non_null(file);
        fseek(file, at, SEEK_SET);
        int c = fgetc(file);
        fseek(file, at, SEEK_SET);
        fputc(c ^ 1, file);
        fclose(file);
        expect_part(f, A, 0, NULL);
        assert_int_not_equal(access(path, F_OK), 0);
    }
    ft_cache_write(f->cache, A, 0, "first", 5);
    assert_int_equal(truncate(path, 66), 0);
    expect_part(f, A, 0, NULL);
    ft_cache_write(f->cache, A, 0, "first", 5);
    assert_int_equal(truncate(path, 3), 0);
    expect_part(f, A, 0, NULL);
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

/* The one that is used again and again stays. */
static void test_it_is_bounded(void **state)
{
    fixture *f = *state;
    char part[1000];
    memset(part, 'x', sizeof part);
    ft_cache_write(f->cache, B, 0, "kept", 4);
    for (uint32_t i = 0; i < 60; i++) {
        ft_cache_write(f->cache, A, i, part, sizeof part);
        expect_part(f, B, 0, "kept");
        assert_true(bytes_there(f) <= 10000);
        if (i % 20 == 0) { /* another run, which has to count first */
            ft_cache_free(f->cache);
            f->cache = ft_cache_new(f->files, 10000);
        }
    }
    expect_part(f, A, 0, NULL);
    char *large = ft_calloc(1, 20000);
    ft_cache_write(f->cache, A, 100, large, 20000);
    free(large);
    expect_part(f, A, 100, NULL);
}

static void test_names_lead_nowhere(void **state)
{
    fixture *f = *state;
    ft_cache_write(f->cache, "../../../../../../../tmp/x", 0, "no", 2);
    expect_part(f, "../../../../../../../tmp/x", 0, NULL);
    assert_int_not_equal(access(f->files, F_OK), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_what_was_kept_comes_back),
        TEST(test_damage_is_noticed),
        TEST(test_it_is_bounded),
        TEST(test_names_lead_nowhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

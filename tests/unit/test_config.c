#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "setup/config.h"

static ft_config fresh(void)
{
    ft_config config;
    ft_config_init(&config);
    return config;
}

/* The file in the tree is what the table of options says. */
static void test_file_is_up_to_date(void **state)
{
    (void)state;
    ft_strbuf expected = {0};
    char text[16384] = "";
    FILE *file = fopen(FT_SOURCE_DIR "/config/foretelld.conf", "re");
    assert_non_null(file);
    size_t length = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    ft_config_print_file(&expected);
    assert_int_equal(length, expected.len);
    assert_string_equal(text, expected.text);
    ft_strbuf_release(&expected);
}

static void test_file_is_the_defaults(void **state)
{
    (void)state;
    ft_config config = fresh(), standard = fresh();
    ft_error err = FT_ERROR_INIT;
    assert_int_equal(ft_config_set(&config, "workers", "3", &err), FT_OK);
    assert_int_equal(ft_config_set(&config, "listen", "elsewhere", &err), FT_OK);
    if (ft_config_read(&config, FT_SOURCE_DIR "/config/foretelld.conf", &err) != FT_OK)
        fail_msg("%s", err.message);
    assert_string_equal(config.listen, standard.listen);
    assert_int_equal(config.workers, standard.workers);
    assert_int_equal(config.max_trace_bytes, standard.max_trace_bytes);
    ft_config_release(&config);
    ft_config_release(&standard);
}

static void test_numbers(void **state)
{
    static const struct {
        const char *text;
        ft_status status;
        uint64_t value;
    } CASES[] = {
        {"1024", FT_OK, 1024},
        {"16k", FT_OK, 16384},
        {"2M", FT_OK, 2u << 20},
        {"1g", FT_OK, 1u << 30},
        {"", FT_USAGE, 0},
        {"-1", FT_USAGE, 0},
        {"1kk", FT_USAGE, 0},
        {"k", FT_USAGE, 0},
        {"0x10", FT_USAGE, 0},
        {"1023", FT_USAGE, 0},
        {"99999999g", FT_USAGE, 0},
        {"1 k", FT_USAGE, 0},
        {"99999999999999999999999", FT_USAGE, 0},
        {"17179869185g", FT_USAGE, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        ft_config config = fresh();
        ft_error err = FT_ERROR_INIT;
        uint64_t before = config.max_trace_bytes;
        ft_status status = ft_config_set(&config, "max-trace-bytes", CASES[i].text, &err);
        if (status != CASES[i].status) fail_msg("\"%s\"", CASES[i].text);
        assert_int_equal(config.max_trace_bytes, status == FT_OK ? CASES[i].value : before);
        ft_config_release(&config);
    }
}

static void test_errors_name_the_line(void **state)
{
    static const char *const BAD[] = {"workers", "workers = many", "worker-count = 1"};
    (void)state;
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        ft_config config = fresh();
        ft_error err = FT_ERROR_INIT;
        char path[] = "/tmp/foretell-conf-XXXXXX";
        int fd = mkstemp(path);
        assert_true(fd >= 0);
        FILE *file = fdopen(fd, "w");
        assert_non_null(file);
        fprintf(file, "# a comment\n\n  workers = 2 # two\n%s\n", BAD[i]);
        fclose(file);
        assert_int_equal(ft_config_read(&config, path, &err), FT_USAGE);
        assert_int_equal(err.line, 4);
        assert_int_equal(config.workers, 2);
        unlink(path);
        ft_config_release(&config);
    }
}

/* Beyond loopback a daemon needs access tokens. */
static void test_addresses(void **state)
{
    static const struct {
        const char *listen;
        ft_status status;
        const char *address;
        int port;
        bool loopback;
    } CASES[] = {
        {"127.0.0.1:0", FT_OK, "127.0.0.1", 0, true},
        {"127.1.2.3:80", FT_OK, "127.1.2.3", 80, true},
        {"[::1]:7411", FT_OK, "::1", 7411, true},
        {"localhost:1", FT_OK, "127.0.0.1", 1, true},
        {"0.0.0.0:7411", FT_OK, "0.0.0.0", 7411, false},
        {"[::]:7411", FT_OK, "::", 7411, false},
        {"10.0.0.1:7411", FT_OK, "10.0.0.1", 7411, false},
        {"example.org:7411", FT_USAGE, "", 0, false},
        {"127.0.0.1", FT_USAGE, "", 0, false},
        {"127.0.0.1:65536", FT_USAGE, "", 0, false},
        {"127.0.0.1:http", FT_USAGE, "", 0, false},
        {":7411", FT_USAGE, "", 0, false},
        {"[::ffff:127.0.0.1]:80", FT_OK, "::ffff:127.0.0.1", 80, false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        ft_config config = fresh();
        ft_error err = FT_ERROR_INIT;
        char address[64];
        int port;
        assert_int_equal(ft_config_set(&config, "listen", CASES[i].listen, &err), FT_OK);
        ft_status status = ft_config_listen(&config, address, &port, &err);
        if (status != CASES[i].status) fail_msg("%s", CASES[i].listen);
        if (status == FT_OK) {
            assert_string_equal(address, CASES[i].address);
            assert_int_equal(port, CASES[i].port);
            assert_int_equal(ft_config_is_loopback(address), CASES[i].loopback);
        }
        ft_config_release(&config);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_file_is_up_to_date),
        cmocka_unit_test(test_file_is_the_defaults),
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_errors_name_the_line),
        cmocka_unit_test(test_addresses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

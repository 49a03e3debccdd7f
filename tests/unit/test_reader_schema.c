/* The JSON Schemas describe what the reader reads. Needs python3 with jsonschema; skips without. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>

#include <cmocka.h>

static void test_schemas(void **state)
{
    (void)state;
    enum { NO_VALIDATOR = 77, NO_PYTHON = 127 };
    int status =
        system("python3 '" FT_SOURCE_DIR "/tests/unit/reader_schema.py' '" FT_SOURCE_DIR "'");
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == NO_VALIDATOR || WEXITSTATUS(status) == NO_PYTHON) {
        print_message("skipped: python3 with jsonschema is not here\n");
        skip();
    }
    assert_int_equal(WEXITSTATUS(status), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_schemas)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* FT_TEST=PATTERN in the environment runs only the tests of a program whose names match (`*`, `?`):
 *   FT_TEST=test_golden_default build/bin/test_golden
 * Linked into every unit test. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static __attribute__((constructor)) void select_tests(void)
{
    const char *pattern = getenv("FT_TEST");
    if (pattern) cmocka_set_test_filter(pattern);
}

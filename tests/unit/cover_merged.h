/* Certificates of which paths are merged (cover/merge.c) beside those of single paths: merged paths
 * stand for more executions, so that what is proved of them is not refuted. */
#ifndef FT_TESTS_COVER_MERGED_H
#define FT_TESTS_COVER_MERGED_H

#include "cover/certify.h"

static void check_merged(const ft_program *p, ft_schedule_set *set,
                         const cover_certificates *single)
{
    cover_certify_options options = {.max_leaves = 1, .merged_rounds = 1};
    cover_certificates found = {0};
    ft_error err = FT_ERROR_INIT;
    if (cover_certify(p, set, &options, &found, &err) != FT_OK) fail_msg("%s", err.message);
    assert_int_equal(found.all.len, single->all.len);
    for (size_t i = 0; i < found.all.len; i++) {
        const cover_certificate *x = &single->all.data[i], *y = &found.all.data[i];
        assert_int_equal(x->kind, y->kind);
        if (x->answer == COVER_REFUTED && y->answer == COVER_PROVED)
            fail_msg("%s is proved of merged paths, and refuted: %s",
                     cover_certificate_name(x->kind), x->text);
    }
    cover_certificates_release(&found);
}

#endif

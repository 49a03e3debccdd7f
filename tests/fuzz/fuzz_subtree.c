/* Names of subtrees: what is read prints as the text that it was read from, but for zeros that a
 * number may begin or a variant end with, and has the same key again. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "explore/subtree.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ft_error err = FT_ERROR_INIT;
    ft_strbuf text = {0}, printed = {0}, again = {0};
    ft_x_subtree read = {0}, back = {0};
    ft_strbuf_add(&text, (const char *)data, size);
    if (ft_x_subtree_parse(ft_strbuf_text(&text), &read, &err) == FT_OK) {
        ft_x_subtree_print(&read, &printed);
        if (ft_x_subtree_parse(ft_strbuf_text(&printed), &back, &err) != FT_OK) abort();
        ft_x_subtree_print(&back, &again);
        ft_x_name one = ft_x_subtree_key(&read), other = ft_x_subtree_key(&back);
        if (strcmp(ft_strbuf_text(&printed), ft_strbuf_text(&again)) != 0) abort();
        if (one.a != other.a || one.b != other.b) abort();
    } else if (!err.message[0] || read.len) {
        abort();
    }
    ft_vec_release(&read);
    ft_vec_release(&back);
    ft_strbuf_release(&text);
    ft_strbuf_release(&printed);
    ft_strbuf_release(&again);
    return 0;
}

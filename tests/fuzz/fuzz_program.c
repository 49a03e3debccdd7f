/* Programs, text and binary: whatever is read prints as a text that reads back the same, and its
 * binary form reads back as the same program. */
#include <stdlib.h>
#include <string.h>

#include "program/binary.h"
#include "program/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static ft_program *read_back(const ft_strbuf *form)
{
    ft_program *program = NULL;
    if (ft_program_read(form->text, form->len, &program, NULL) != FT_OK) abort();
    return program;
}

static void check(const ft_program *program)
{
    ft_strbuf text = {0}, again = {0}, binary = {0}, back = {0};
    ft_program_print(program, &text);
    ft_program_write_binary(program, &binary);
    ft_program *by_text = read_back(&text), *by_binary = read_back(&binary);
    ft_program_print(by_text, &again);
    ft_program_write_binary(by_binary, &back);
    if (text.len != again.len || memcmp(text.text, again.text, text.len) != 0) abort();
    if (binary.len != back.len || memcmp(binary.text, back.text, binary.len) != 0) abort();
    ft_program_free(by_text);
    ft_program_free(by_binary);
    ft_strbuf_release(&text);
    ft_strbuf_release(&again);
    ft_strbuf_release(&binary);
    ft_strbuf_release(&back);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ft_program *program = NULL;
    ft_error err = FT_ERROR_INIT;
    if (ft_program_read(data, size, &program, &err) == FT_OK)
        check(program);
    else if (!err.message[0])
        abort();
    ft_program_free(program);
    return 0;
}

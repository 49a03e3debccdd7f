#include "serve/local.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/strbuf.h"
#include "context/request.h"
#include "cover/request.h"
#include "program/binary.h"

enum { MOST_BYTES = 64 << 20, EXIT_TROUBLE = 2 };

static bool read_all(ft_strbuf *text)
{
    char part[65536];
    for (size_t n; (n = fread(part, 1, sizeof part, stdin)) > 0;) {
        if (text->len + n > MOST_BYTES) return false;
        ft_strbuf_add(text, part, n);
    }
    return !ferror(stdin);
}

/* Gets the program and the question. */
typedef ft_status asker(const ft_program *program, const json_t *question, json_t **answer,
                        ft_error *err);

static ft_status ask_context(const ft_program *program, const json_t *question, json_t **answer,
                             ft_error *err)
{
    return ft_context_request(program, question, NULL, NULL, answer, err);
}

/* A report names what it is about. */
static void name_program(const ft_program *program, json_t *answer)
{
    char hash[FT_DIGEST_HEX + 1];
    ft_program_hash(program, hash);
    json_object_set_new(answer, "program", json_string(hash));
}

static ft_status answer_to(const ft_strbuf *text, asker *ask, json_t **answer, ft_error *err)
{
    json_error_t at;
    ft_program *program = NULL;
    const char *line = text->len ? memchr(text->text, '\n', text->len) : NULL;
    size_t n = line ? (size_t)(line - text->text) : 0;
    json_t *question = line ? json_loadb(text->text, n, JSON_REJECT_DUPLICATES, &at) : NULL;
    if (!question) return ft_error_set(err, FT_USAGE, "the question is not a line of JSON");
    ft_status status = ft_program_read(line + 1, text->len - n - 1, &program, err);
    if (status == FT_OK) status = ask(program, question, answer, err);
    if (status == FT_OK) name_program(program, *answer);
    ft_program_free(program);
    json_decref(question);
    return status;
}

static int answer_once(asker *ask)
{
    ft_strbuf text = {0};
    ft_error err = FT_ERROR_INIT;
    json_t *answer = NULL;
    if (!read_all(&text)) {
        ft_strbuf_release(&text);
        return EXIT_TROUBLE;
    }
    if (answer_to(&text, ask, &answer, &err) != FT_OK) {
        answer = json_pack("{s:s}", "error", err.message);
        if (err.line) json_object_set_new(answer, "line", json_integer((json_int_t)err.line));
    }
    ft_strbuf_release(&text);
    bool good = json_dumpf(answer, stdout, JSON_COMPACT) == 0 && fflush(stdout) == 0;
    json_decref(answer);
    return good ? EXIT_SUCCESS : EXIT_TROUBLE;
}

int ft_local_context(void)
{
    return answer_once(ask_context);
}

int ft_local_cover(void)
{
    return answer_once(ft_cover_request);
}

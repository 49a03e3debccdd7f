#include "exploring/rest.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/contract.h"
#include "base/digest.h"

static const char MAGIC[] = "foretell-exploration 2";

void ft_rest_release(ft_rest *rest)
{
    ft_x_rest_release(&rest->plan);
    free(rest->lingering);
    ft_vec_release(&rest->points);
    ft_vec_release(&rest->threads);
    for (size_t i = 0; i < rest->kept.len; i++) ft_kept_release(&rest->kept.data[i]);
    ft_vec_release(&rest->kept);
    ft_vec_release(&rest->outputs);
    *rest = (ft_rest){0};
}

/* ---- what it is of */

/* As a shell finds it. */
static FILE *open_program(const char *name)
{
    const char *path = getenv("PATH");
    FILE *file = strchr(name, '/') ? fopen(name, "rb") : NULL;
    while (!file && path && *path && !strchr(name, '/')) {
        ft_strbuf at = {0};
        size_t length = strcspn(path, ":");
        ft_strbuf_printf(&at, "%.*s/%s", (int)length, path, name);
        file = fopen(ft_strbuf_text(&at), "rb");
        ft_strbuf_release(&at);
        path += length + (path[length] == ':');
    }
    return file;
}

static void digest_program(ft_digest *digest, const char *name)
{
    char block[1 << 14];
    FILE *file = open_program(name);
    for (size_t n; file && (n = fread(block, 1, sizeof block, file)) > 0;)
        ft_digest_update(digest, block, n);
    if (file) fclose(file);
}

char *ft_rest_digest(const ft_options *o)
{
    ft_digest digest;
    ft_strbuf text = {0};
    char hex[FT_DIGEST_HEX + 1];
    for (size_t i = 0; i < o->arguments.len; i++)
        ft_strbuf_printf(&text, "%zu %s\n", strlen(o->arguments.data[i]), o->arguments.data[i]);
    ft_strbuf_printf(&text, "%s %d ", o->oracle ? o->oracle : "", o->deterministic);
    ft_strbuf_printf(&text, "%u %u %u %s %s %u", (unsigned)o->expect_exit, o->steps, o->polls,
                     o->wakeups ? o->wakeups : "", o->early_limits ? o->early_limits : "",
                     o->preemptions);
    ft_digest_init(&digest);
    ft_digest_update(&digest, ft_strbuf_text(&text), text.len);
    digest_program(&digest, o->arguments.data[0]);
    ft_digest_hex(&digest, hex);
    ft_strbuf_release(&text);
    return ft_strdup(hex);
}

/* ---- numbers of structures, for both ways */

enum { MOST_NUMBERS = 64, N_COUNTS = sizeof(ft_x_counts) / sizeof(uint64_t) };
_Static_assert(sizeof(ft_x_counts) == N_COUNTS * sizeof(uint64_t), "counts are numbers alone");

static size_t add_counts(uint64_t *to, const ft_x_counts *c)
{
    memcpy(to, c, sizeof *c);
    return N_COUNTS;
}

static size_t outcome_numbers(const ft_x_outcome *o, uint64_t *to)
{
    size_t n = 0;
    const uint64_t own[] = {o->cover,   o->stop, o->classes, o->level,
                            o->of_next, o->seen, o->samples};
    for (; n < sizeof own / sizeof *own; n++) to[n] = own[n];
    n += add_counts(to + n, &o->tree);
    return n + add_counts(to + n, &o->total);
}

static void outcome_from(const uint64_t *n, ft_x_outcome *o)
{
    enum { OWN = 7 };
    *o = (ft_x_outcome){.cover = n[0] < FT_X_COVERS ? (ft_x_cover)n[0] : FT_X_COVER_NOTHING,
                        .stop = n[1] < FT_X_STOPS ? (ft_x_stop)n[1] : FT_X_STOP_ASKED,
                        .classes = n[2],
                        .level = (uint32_t)n[3],
                        .of_next = n[4],
                        .seen = n[5],
                        .samples = n[6]};
    memcpy(&o->tree, n + OWN, sizeof o->tree);
    memcpy(&o->total, n + OWN + N_COUNTS, sizeof o->total);
}

static size_t plan_numbers(const ft_x_rest *r, uint64_t *to)
{
    const uint64_t own[] = {r->has_begun, r->incomplete, r->levels, r->level_classes};
    size_t n = sizeof own / sizeof *own;
    memcpy(to, own, sizeof own);
    n += add_counts(to + n, &r->tree);
    return n + add_counts(to + n, &r->others);
}

static void plan_from(const uint64_t *n, ft_x_rest *r)
{
    enum { OWN = 4 };
    r->has_begun = n[0];
    r->incomplete = n[1];
    r->levels = (uint32_t)n[2];
    r->level_classes = n[3];
    memcpy(&r->tree, n + OWN, sizeof r->tree);
    memcpy(&r->others, n + OWN + N_COUNTS, sizeof r->others);
}

/* ---- writing */

static void write_line(FILE *file, const char *word, const uint64_t *numbers, size_t n)
{
    fputs(word, file);
    for (size_t i = 0; i < n; i++) fprintf(file, " %" PRIu64, numbers[i]);
    fputc('\n', file);
}

static void write_kept(FILE *file, const ft_kept_run *k)
{
    fprintf(file, "run %u %u %u", k->points.n, k->points.as_one, k->points.polls);
    for (size_t i = 0; i < k->picks.len; i++)
        fprintf(file, " %u %" PRIu64, k->picks.data[i].thread, k->picks.data[i].variant);
    fputc('\n', file);
}

static void write_rest(FILE *file, const char *digest, const ft_rest *r)
{
    uint64_t numbers[MOST_NUMBERS];
    const uint64_t at[] = {r->stage, r->runs, r->setting.n, r->setting.as_one, r->setting.polls};
    fprintf(file, "%s\nof %s\n", MAGIC, digest);
    write_line(file, "at", at, sizeof at / sizeof *at);
    for (size_t i = 0; i < r->threads.len; i++)
        fprintf(file, "thread %u %u\n", r->threads.data[i].parent, r->threads.data[i].number);
    write_line(file, "points", r->points.data, r->points.len);
    write_line(file, "first", numbers, outcome_numbers(&r->sync, numbers));
    write_line(file, "plan", numbers, plan_numbers(&r->plan, numbers));
    for (size_t i = 0; i < r->kept.len; i++) write_kept(file, &r->kept.data[i]);
    for (size_t i = 0; i < r->plan.open.len; i++) {
        ft_strbuf name = {0};
        ft_x_subtree_print(&r->plan.open.data[i], &name);
        fprintf(file, "open %s\n", ft_strbuf_text(&name));
        ft_strbuf_release(&name);
    }
    for (size_t i = 0; i < r->outputs.len; i++)
        write_line(file, "output", &r->outputs.data[i].a, 2);
    if (r->lingering) fprintf(file, "lingering %s\n", r->lingering);
    fputs("end\n", file);
}

ft_status ft_rest_save(const char *path, const char *digest, const ft_rest *rest, ft_error *err)
{
    ft_strbuf name = {0};
    ft_strbuf_printf(&name, "%s.new", path);
    const char *new = ft_strbuf_text(&name);
    FILE *file = fopen(new, "w");
    if (file) write_rest(file, digest, rest);
    bool written = file && !ferror(file);
    if (file && fclose(file)) written = false;
    written = written && !rename(new, path);
    ft_status status = FT_OK;
    if (!written)
        status = ft_error_set(err, FT_USAGE, "%s cannot be written: %s", path, strerror(errno));
    if (!written) unlink(new);
    ft_strbuf_release(&name);
    return status;
}

/* ---- reading */

typedef struct reader {
    ft_rest *rest;
    const char *digest;
    bool is_other, ended;
} reader;

/* The numbers of the line, at most so many; false: it has something else. */
static bool read_numbers(char *text, uint64_t *numbers, size_t most, size_t *n)
{
    for (*n = 0; *text; ++*n) {
        char *end;
        if (*n == most || *text != ' ') return false;
        errno = 0;
        numbers[*n] = strtoull(text + 1, &end, 10);
        if (end == text + 1 || text[1] == '-' || errno) return false;
        text = end;
    }
    return true;
}

static bool read_run(ft_rest *r, char *text)
{
    size_t n, most = strlen(text) / 2 + 1;
    uint64_t *numbers = ft_calloc(most, sizeof *numbers);
    bool fits = read_numbers(text, numbers, most, &n) && n >= 3 && n % 2 == 1;
    ft_kept_run k = {0};
    if (fits) k.points = (ft_run_setting){(uint32_t)numbers[0], numbers[1], (uint32_t)numbers[2]};
    for (size_t i = 3; i < n && fits; i += 2) {
        fits = numbers[i] < FT_X_THREADS;
        ft_vec_push(&k.picks, (ft_x_pick){(uint16_t)numbers[i], numbers[i + 1]});
    }
    if (fits)
        ft_vec_push(&r->kept, k);
    else
        ft_kept_release(&k);
    free(numbers);
    return fits;
}

static bool read_points(ft_rest *r, char *text)
{
    size_t n, most = strlen(text) / 2 + 1;
    uint64_t *numbers = ft_calloc(most, sizeof *numbers);
    bool fits = read_numbers(text, numbers, most, &n);
    for (size_t i = 0; i < n && fits; i++) ft_vec_push(&r->points, numbers[i]);
    free(numbers);
    return fits;
}

static bool read_open(ft_rest *r, char *text)
{
    ft_error err = FT_ERROR_INIT;
    ft_x_subtree made = {0};
    if (*text++ != ' ' || ft_x_subtree_parse(text, &made, &err) != FT_OK) {
        ft_vec_release(&made);
        return false;
    }
    ft_vec_push(&r->plan.open, made);
    return true;
}

static bool read_thread(ft_rest *r, const uint64_t *n)
{
    if (n[0] > r->threads.len || r->threads.len == FT_X_THREADS) return false;
    ft_vec_push(&r->threads, (ft_exploring_thread){(uint32_t)n[0], (uint32_t)n[1]});
    return true;
}

static bool read_fixed(ft_rest *r, const char *word, char *text)
{
    uint64_t n[MOST_NUMBERS];
    size_t many;
    if (!read_numbers(text, n, MOST_NUMBERS, &many)) return false;
    if (!strcmp(word, "thread")) return many == 2 && read_thread(r, n);
    if (!strcmp(word, "output") && many == 2) {
        ft_vec_push(&r->outputs, (ft_native_output_name){n[0], n[1]});
        return true;
    }
    if (!strcmp(word, "first") && many == 7 + 2 * N_COUNTS) return outcome_from(n, &r->sync), true;
    if (!strcmp(word, "plan") && many == 4 + 2 * N_COUNTS) return plan_from(n, &r->plan), true;
    if (strcmp(word, "at") || many != 5 || n[0] > FT_STAGE_PLAIN) return false;
    r->stage = n[0];
    r->runs = n[1];
    r->setting = (ft_run_setting){(uint32_t)n[2], n[3], (uint32_t)n[4]};
    return true;
}

static bool read_line(reader *x, char *line)
{
    ft_rest *r = x->rest;
    size_t length = strcspn(line, " ");
    char word[16], *text = line + length;
    if (x->ended || length >= sizeof word) return false;
    memcpy(word, line, length);
    word[length] = 0;
    if (!strcmp(word, "end")) return x->ended = true;
    if (!strcmp(word, "run")) return read_run(r, text);
    if (!strcmp(word, "points")) return read_points(r, text);
    if (!strcmp(word, "open")) return read_open(r, text);
    if (!strcmp(word, "lingering") && *text && !r->lingering)
        return (r->lingering = ft_strdup(text + 1));
    if (strcmp(word, "of")) return read_fixed(r, word, text);
    x->is_other = *text != ' ' || strcmp(text + 1, x->digest) != 0;
    return true;
}

/* Its points are there, and so are those of its runs. */
static bool is_sound(const ft_rest *r)
{
    if (r->setting.n > r->points.len) return false;
    for (size_t i = 0; i < r->kept.len; i++)
        if (r->kept.data[i].points.n > r->points.len || !r->kept.data[i].picks.len) return false;
    return r->threads.len > 0;
}

static ft_status read_file(const char *path, FILE *file, reader *x, ft_error *err)
{
    char *line = NULL;
    size_t room = 0, number = 1;
    bool right = getline(&line, &room, file) > 0 && !strncmp(line, MAGIC, sizeof MAGIC - 1);
    while (right && !x->is_other && getline(&line, &room, file) > 0) {
        number++;
        line[strcspn(line, "\n")] = 0;
        right = read_line(x, line);
    }
    free(line);
    if (right && x->is_other)
        return ft_error_set(err, FT_USAGE,
                            "%s is of another program, or of other arguments or options: give "
                            "those, or another file",
                            path);
    if (right && x->ended && is_sound(x->rest)) return FT_OK;
    return ft_error_set(err, FT_USAGE,
                        "%s:%zu: this is not the rest of an exploration; delete the file, or give "
                        "another one",
                        path, number);
}

ft_status ft_rest_load(const char *path, const char *digest, ft_rest *rest, bool *found,
                       ft_error *err)
{
    FILE *file = fopen(path, "r");
    reader x = {.rest = rest, .digest = digest};
    *found = file != NULL;
    if (!file && errno == ENOENT) return FT_OK;
    if (!file) return ft_error_set(err, FT_USAGE, "%s cannot be read: %s", path, strerror(errno));
    ft_status status = read_file(path, file, &x, err);
    fclose(file);
    if (status != FT_OK) ft_rest_release(rest);
    return status;
}

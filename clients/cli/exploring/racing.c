/* Runs with data races. A few recordings show all of them: a run mostly has several. */
#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "exploring/exploring.h"

enum { MOST_LOOKS = 32 /* runs for one race: it is in most of them */, MOST_RECORDED = 8 };

static bool is_settled(const ft_racing *r)
{
    return r->looks >= MOST_LOOKS;
}

void ft_racing_note(ft_racing_list *all, ft_explorer *x, const ft_x_run *run)
{
    const uint32_t *numbers;
    size_t n = ft_native_run_races(x->native, run, &numbers);
    for (size_t i = 0; i < n; i++) {
        while (all->len <= numbers[i]) ft_vec_push(all, (ft_racing){0});
        ft_racing *r = &all->data[numbers[i]];
        if (is_settled(r)) continue;
        ft_kept_note(&r->run, x, run);
        r->looks++;
    }
}

static int compare_texts(const void *a, const void *b)
{
    const char *const *one = a, *const *other = b;
    return strcmp(*one, *other);
}

/* "a.c:3 write b.c:7 read", the smaller line first. */
static char *describe(ft_explorer *x, const ft_native_race *r)
{
    char *sides[2];
    ft_strbuf text = {0};
    for (int i = 0; i < 2; i++) {
        ft_strbuf side = {0};
        ft_places_print(&x->places, &r->place[i], &side);
        ft_strbuf_puts(&side, r->race.writes[i] ? " write" : " read");
        sides[i] = ft_strbuf_take(&side);
    }
    qsort(sides, 2, sizeof *sides, compare_texts);
    ft_strbuf_printf(&text, "%s %s", sides[0], sides[1]);
    for (int i = 0; i < 2; i++) free(sides[i]);
    return ft_strbuf_take(&text);
}

size_t ft_racing_count(ft_explorer *x)
{
    const ft_native_race *races;
    size_t n = ft_native_races(x->native, &races), different = 0;
    char **texts = ft_calloc(n + 1, sizeof *texts);
    for (size_t i = 0; i < n; i++) texts[i] = describe(x, &races[i]);
    if (n) qsort(texts, n, sizeof *texts, compare_texts);
    for (size_t i = 0; i < n; i++) different += !i || strcmp(texts[i - 1], texts[i]) != 0;
    for (size_t i = 0; i < n; i++) free(texts[i]);
    free(texts);
    return different;
}

/* ---- which runs to record */

/* Runs with a race, the best first. */
static ft_racing *best(const ft_racing_list *all, const bool *covered)
{
    ft_racing *found = NULL;
    for (size_t i = 0; i < all->len; i++) {
        ft_racing *r = &all->data[i];
        if (covered[i] || !r->run.picks.len) continue;
        if (!found || ft_kept_compare(&r->run, &found->run) < 0) found = r;
    }
    return found;
}

/* Its order, and which races it has. Where it has not its own any more it is not recorded. */
static ft_status run_again(const ft_racing_list *all, ft_racing *r, ft_explorer *x, bool *covered,
                           ft_error *err)
{
    ft_x_run run;
    const uint32_t *numbers;
    size_t own = (size_t)(r - all->data);
    ft_kept_run *kept = &r->run;
    bool has_it = false;
    ft_status status =
        ft_kept_run_again(x, kept->points, kept->picks.data, kept->picks.len, &run, err);
    size_t n = status == FT_OK ? ft_native_run_races(x->native, &run, &numbers) : 0;
    for (size_t i = 0; i < n; i++) has_it |= numbers[i] == own;
    for (size_t i = 0; i < n && has_it; i++)
        if (numbers[i] < all->len) covered[numbers[i]] = true;
    if (has_it) ft_order_print(x->native, &run, &kept->order);
    covered[own] = true;
    ft_x_run_release(&run);
    return status;
}

ft_status ft_racing_conclude(ft_racing_list *all, ft_explorer *x, ft_error *err)
{
    ft_status status = FT_OK;
    ft_racing *r;
    bool *covered = ft_calloc(all->len + 1, sizeof *covered);
    for (int i = 0; i < MOST_RECORDED && status == FT_OK && (r = best(all, covered)); i++)
        status = run_again(all, r, x, covered, err);
    free(covered);
    return status;
}

/* Schedule sets: whatever is read prints as a text that reads back the same. */
#include <stdlib.h>
#include <string.h>

#include "schedules/schedules.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(ft_schedule_set *set)
{
    ft_strbuf text = {0}, again = {0};
    ft_schedule_set *back = NULL;
    ft_schedule_set_print(set, &text);
    if (ft_schedule_set_read(text.text, text.len, &back, NULL) != FT_OK) abort();
    ft_schedule_set_print(back, &again);
    if (text.len != again.len || memcmp(text.text, again.text, text.len) != 0) abort();
    for (uint32_t e = 0; e < set->epochs.len; e++) (void)ft_schedule_condition(set, e, 0);
    ft_schedule_set_free(back);
    ft_strbuf_release(&text);
    ft_strbuf_release(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ft_schedule_set *set = NULL;
    ft_error err = FT_ERROR_INIT;
    if (ft_schedule_set_read((const char *)data, size, &set, &err) == FT_OK)
        check(set);
    else if (!err.message[0])
        abort();
    ft_schedule_set_free(set);
    return 0;
}

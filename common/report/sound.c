/* The checker of the report model: what its views rely on. */
#include <string.h>

#include "report/internal.h"

static bool is_sound_step(const ft_finding *finding, size_t i)
{
    const ft_report_step *step = &finding->steps.data[i], *before = step - 1;
    size_t number = i ? before->number + before->count : 1;
    return step->thread < finding->threads.len && step->number == number &&
           (step->brief || (step->text && step->where)) && (!step->label || step->marked);
}

static bool is_sound_finding(const ft_report *report, size_t part, const ft_finding *finding)
{
    const ft_report_part *of = &report->parts.data[part];
    bool counts = finding->standing == FT_STANDING_NEW || !finding->fails;
    if (finding->part != part || !counts || !finding->rule || !finding->title) return false;
    if (finding->number > of->count || finding->group > finding->number) return false;
    if ((finding->number == 0) != (finding->group == 0)) return false;
    for (size_t i = 0; i < finding->accesses.len; i++)
        if (!finding->accesses.data[i].text || !finding->accesses.data[i].locks) return false;
    for (size_t i = 0; i < finding->steps.len; i++)
        if (!is_sound_step(finding, i)) return false;
    return true;
}

/* Numbers of a part ascend, without gaps but for findings that are set apart. */
static bool is_numbered(const ft_report *report, const ft_report_part *part)
{
    size_t last = 0;
    for (size_t i = part->first; i < part->first + part->count; i++) {
        size_t number = report->findings.data[i].number;
        if (number && number != ++last) return false;
    }
    return true;
}

bool ft_report_is_sound(const ft_report *report)
{
    size_t next = 0;
    for (size_t p = 0; p < report->parts.len; p++) {
        const ft_report_part *part = &report->parts.data[p];
        if (part->first != next || part->first + part->count > report->findings.len) return false;
        if (!part->file || !is_numbered(report, part)) return false;
        for (size_t i = part->first; i < part->first + part->count; i++)
            if (!is_sound_finding(report, p, &report->findings.data[i])) return false;
        next += part->count;
    }
    return next == report->findings.len;
}

/* Reading a raw log (raw/raw.h): one record after the other, as the runtime wrote them. */
#ifndef FT_RECORD_RAW_LOG_H
#define FT_RECORD_RAW_LOG_H

#include "base/memory.h"
#include "base/status.h"
#include "raw/raw.h"

enum { FT_RAW_OPERANDS = 4 };

typedef struct ft_raw_record {
    bool access;                        /* else `operation` */
    ft_raw_operation operation;         /* of what is no access */
    ft_raw_form form;                   /* of an access */
    uint32_t thread;                    /* whose it is */
    uint64_t operands[FT_RAW_OPERANDS]; /* u, in order */
    const unsigned char *text;          /* t, or the content of a range; in the log */
    uint64_t length;                    /* of the text; a range that kept none has 0 */
    uint32_t site;                      /* of an access */
    uint64_t address, size;             /* of an access */
    int64_t value, written;             /* of an access up to 8 bytes; written: of an update */
} ft_raw_record;

typedef struct ft_raw_log ft_raw_log;

/* Opens the log at `path`. FT_INPUT: not a log, or no program wrote to it. */
ft_status ft_raw_log_open(const char *path, ft_raw_log **log, ft_error *err) FT_MUST_CHECK;
void ft_raw_log_close(ft_raw_log *log); /* accepts NULL */
const ft_raw_header *ft_raw_log_header(const ft_raw_log *log);

void ft_raw_log_rewind(ft_raw_log *log);
/* The next record. False at the end; *err is filled where the log is damaged. */
bool ft_raw_log_next(ft_raw_log *log, ft_raw_record *record, ft_error *err);

const char *ft_raw_end_text(uint32_t end); /* "the program ended" */

#endif

/* What the fuzz targets of the line formats share: LLVMFuzzerTestOneInput for one format.
 *
 * Beside not crashing: the pieces in which the input arrives make no difference, a refusal names a
 * line, and what was accepted can be written as NDJSON and read again as the same events. */
#ifndef READER_TARGET_H
#define READER_TARGET_H

#include <stddef.h>
#include <stdint.h>

#include "trace/reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

void fuzz_reader(const ft_format_reader *format, const uint8_t *data, size_t size);

#endif

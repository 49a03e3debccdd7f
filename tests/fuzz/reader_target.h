/* What the fuzz targets of trace formats share.
 *
 * fuzz_reader is one input of a line format. Beside not crashing: the pieces in which the input
 * arrives make no difference, a refusal names a line, and what was accepted can be written as
 * NDJSON and read again as the same events. */
#ifndef READER_TARGET_H
#define READER_TARGET_H

#include <stddef.h>
#include <stdint.h>

#include "trace/reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

void fuzz_reader(const ft_format_reader *format, const uint8_t *data, size_t size);

/* Checksums keep mutations from reaching the payloads of binary files: puts them right, as far as
 * the frames are whole. */
void fuzz_repair_checksums(uint8_t *data, size_t size);

#endif

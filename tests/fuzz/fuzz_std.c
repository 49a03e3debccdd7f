#include "reader_target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_reader(&ft_std_reader, data, size);
    return 0;
}

/* Of begun.c; built without hooks. */
#include <string.h>

void fill(void *memory, size_t size);
void fill(void *memory, size_t size)
{
    memset(memory, 0, size);
}

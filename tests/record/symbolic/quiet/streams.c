/* What is printed to a file or into memory comes back, and depends on what was read. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "read_x.h"

static void into_memory(int seen)
{
    char *text;
    size_t length;
    FILE *stream = open_memstream(&text, &length);
    fprintf(stream, "%d", seen);
    fflush(stream);
    assert(text[0] - '0' == seen);
    fclose(stream);
    free(text);
}

static void into_file(int seen)
{
    FILE *stream = tmpfile();
    fputc(seen, stream);
    fwrite(&seen, sizeof seen, 1, stream);
    rewind(stream);
    assert(fgetc(stream) == seen);
    assert(fgetc(stream) == seen);
    fclose(stream);
}

static void *reader(void *unused)
{
    into_memory(read_x());
    into_file(read_x());
    return unused;
}

int main(void)
{
    return run_beside_write(reader);
}

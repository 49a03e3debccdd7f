/* Feeds every file of the folders given as arguments to the fuzz target it is linked with. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/memory.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int replay_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    struct stat info;
    if (!file || fstat(fileno(file), &info) != 0) {
        perror(path);
        return 1;
    }
    size_t size = (size_t)info.st_size;
    uint8_t *data = ft_alloc(size);
    int failed = fread(data, 1, size, file) != size;
    if (!failed) LLVMFuzzerTestOneInput(data, size);
    free(data);
    fclose(file);
    return failed;
}

static int replay_folder(const char *folder)
{
    struct dirent **entries;
    int failed = 0, replayed = 0, count = scandir(folder, &entries, NULL, alphasort);
    if (count < 0) {
        perror(folder);
        return 1;
    }
    for (int i = 0; i < count; i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        if (entries[i]->d_name[0] != '.') {
            fprintf(stderr, "%s\n", path); /* the last one named is the one that crashed */
            failed |= replay_file(path);
            replayed++;
        }
        free(entries[i]);
    }
    free(entries);
    printf("%s: %d files\n", folder, replayed);
    return failed || !replayed;
}

int main(int argc, char **argv)
{
    int failed = argc < 2;
    for (int i = 1; i < argc; i++) failed |= replay_folder(argv[i]);
    return failed;
}

/* Two threads take blocks of a text from a common counter, compress each by looking for repeats in
 * a hash table of their own, and check that it expands to the same. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 1 << 14, HASHES = 1 << 12, LEAST = 4, MOST = 255 };
static unsigned char *text;
static size_t blocks, next;
static unsigned long packed;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static unsigned hash(const unsigned char *at)
{
    return (at[0] * 2654435761u ^ at[1] * 40503u ^ at[2] * 257u ^ at[3]) % HASHES;
}

/* A literal is 0 and the byte, a repeat its length and how far back, two bytes. */
static size_t pack(const unsigned char *from, unsigned char *to, unsigned short *table)
{
    size_t at = 0, n = 0;
    memset(table, 0, HASHES * sizeof *table);
    while (at < BLOCK) {
        size_t length = 0, back = 0;
        if (at + LEAST < BLOCK) {
            unsigned h = hash(from + at);
            size_t last = table[h];
            table[h] = (unsigned short)at;
            while (last < at && at + length < BLOCK && length < MOST &&
                   from[last + length] == from[at + length])
                length++;
            back = at - last;
        }
        if (length >= LEAST) {
            to[n++] = (unsigned char)length;
            to[n++] = (unsigned char)(back >> 8);
            to[n++] = (unsigned char)back;
            at += length;
        } else {
            to[n++] = 0;
            to[n++] = from[at++];
        }
    }
    return n;
}

static size_t unpack(const unsigned char *from, size_t n, unsigned char *to)
{
    size_t at = 0;
    for (size_t i = 0; i < n;) {
        unsigned length = from[i++];
        if (!length) {
            to[at++] = from[i++];
            continue;
        }
        size_t back = (size_t)from[i] << 8 | from[i + 1];
        i += 2;
        for (unsigned k = 0; k < length; k++, at++) to[at] = to[at - back];
    }
    return at;
}

static void *work(void *unused)
{
    unsigned short *table = malloc(HASHES * sizeof *table);
    unsigned char *made = malloc(2 * BLOCK), *back = malloc(BLOCK);
    for (;;) {
        pthread_mutex_lock(&lock);
        size_t block = next++;
        pthread_mutex_unlock(&lock);
        if (block >= blocks) break;
        size_t n = pack(text + block * BLOCK, made, table);
        if (unpack(made, n, back) != BLOCK || memcmp(back, text + block * BLOCK, BLOCK)) abort();
        pthread_mutex_lock(&lock);
        packed += n;
        pthread_mutex_unlock(&lock);
    }
    free(table);
    free(made);
    free(back);
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t threads[2];
    blocks = argc > 1 ? strtoul(argv[1], NULL, 10) : 64;
    text = malloc(blocks * BLOCK);
    unsigned random = 7;
    for (size_t i = 0; i < blocks * BLOCK; i++) {
        random = random * 1664525 + 1013904223;
        text[i] = i > 64 && random >> 29 ? text[i - 1 - (random >> 20) % 64]
                                         : "etaoin srhldcu\n"[(random >> 16) % 15];
    }
    for (int t = 0; t < 2; t++) pthread_create(&threads[t], NULL, work, NULL);
    for (int t = 0; t < 2; t++) pthread_join(threads[t], NULL);
    printf("%lu of %lu\n", packed, (unsigned long)(blocks * BLOCK));
    free(text);
    return 0;
}

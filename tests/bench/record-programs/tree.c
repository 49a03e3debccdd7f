/* Two threads build search trees of their own from small blocks and free them; a table that both
 * fill is under a lock. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct node {
    struct node *left, *right;
    unsigned key, value;
} node;

enum { ROUNDS = 20, SLOTS = 64 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned slots[SLOTS];
static unsigned keys;

static void insert(node **at, unsigned key)
{
    while (*at) {
        if ((*at)->key == key) {
            (*at)->value++;
            return;
        }
        at = key < (*at)->key ? &(*at)->left : &(*at)->right;
    }
    *at = malloc(sizeof **at);
    **at = (node){.key = key, .value = 1};
}

static unsigned destroy(node *at)
{
    if (!at) return 0;
    unsigned sum = at->value + destroy(at->left) + destroy(at->right);
    free(at);
    return sum;
}

static void *build(void *argument)
{
    unsigned random = (unsigned)(size_t)argument;
    for (int round = 0; round < ROUNDS; round++) {
        node *root = NULL;
        for (unsigned i = 0; i < keys; i++) {
            random = random * 1664525 + 1013904223;
            insert(&root, random >> 16);
        }
        unsigned sum = destroy(root);
        pthread_mutex_lock(&lock);
        slots[random % SLOTS] += sum;
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[2];
    keys = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 8000;
    for (size_t t = 0; t < 2; t++) pthread_create(&threads[t], NULL, build, (void *)(t + 1));
    for (size_t t = 0; t < 2; t++) pthread_join(threads[t], NULL);
    unsigned sum = 0;
    for (int i = 0; i < SLOTS; i++) sum += slots[i];
    printf("%u\n", sum);
    return 0;
}

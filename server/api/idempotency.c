#include <stdlib.h>
#include <string.h>

#include "api/internal.h"
#include "base/digest.h"

typedef struct entry {
    char *key;
    char body[FT_DIGEST_HEX + 1];
    char *job; /* NULL: pending */
} entry;

/* A ring: the oldest key makes room for the next one. */
struct ft_idempotency {
    entry entries[FT_IDEMPOTENCY_KEYS];
    size_t next;
};

ft_idempotency *ft_idempotency_new(void)
{
    return ft_calloc(1, sizeof(ft_idempotency));
}

static void entry_clear(entry *e)
{
    free(e->key);
    free(e->job);
    *e = (entry){0};
}

void ft_idempotency_free(ft_idempotency *table)
{
    if (!table) return;
    for (size_t i = 0; i < FT_IDEMPOTENCY_KEYS; i++) entry_clear(&table->entries[i]);
    free(table);
}

static entry *find(ft_idempotency *table, const char *key)
{
    for (size_t i = 0; i < FT_IDEMPOTENCY_KEYS; i++)
        if (table->entries[i].key && strcmp(table->entries[i].key, key) == 0)
            return &table->entries[i];
    return NULL;
}

ft_key_state ft_idempotency_begin(ft_idempotency *table, const char *key, const char *body_hash,
                                  const char **job)
{
    entry *e = find(table, key);
    if (e && strcmp(e->body, body_hash) != 0) return FT_KEY_CLASH;
    if (e && !e->job) return FT_KEY_PENDING;
    if (e) {
        *job = e->job;
        return FT_KEY_KNOWN;
    }
    e = &table->entries[table->next];
    table->next = (table->next + 1) % FT_IDEMPOTENCY_KEYS;
    entry_clear(e);
    e->key = ft_strdup(key);
    memcpy(e->body, body_hash, sizeof e->body);
    return FT_KEY_NEW;
}

void ft_idempotency_end(ft_idempotency *table, const char *key, const char *job)
{
    entry *e = find(table, key);
    if (!e) return;
    if (job)
        e->job = ft_strdup(job);
    else
        entry_clear(e);
}

/* Which of the names that there are did somebody mean who wrote another one? For messages:
 * "'wrokers' is not an option; did you mean 'workers'?".
 *
 *   ft_closest c = {.word = word};
 *   for each name: ft_closest_offer(&c, name);
 *   c.name is the closest one, NULL: none is close */
#ifndef FT_BASE_CLOSEST_H
#define FT_BASE_CLOSEST_H

typedef struct ft_closest {
    const char *word;
    const char *name;  /* the closest so far; the caller's text */
    unsigned distance; /* of it: letters added, left out, changed, or two swapped */
} ft_closest;

/* A name is close if it takes one change for every three letters of the word, at least two changes;
 * or if the word, of three letters or more, is its beginning. */
void ft_closest_offer(ft_closest *closest, const char *name);

#endif

/* Subtrees of the search as tasks, under names that every process understands.
 *
 * A subtree ⟨C, D⟩ (search.h) has the executions that contain C and none of D. Its name is the way
 * to it from the root: one *mark* for each event that was added to C or to D, in that order. An
 * event is named by its thread and variant alone: in the configuration that the marks before it
 * make, which has one of its name at most. (Numbers of threads must mean the same wherever the name
 * goes.) The marks `along` come last: a run that leads into the subtree.
 *
 * Subtrees are independent. With partial alternatives (search.h) a search that begins at ⟨C, D⟩
 * with no other events known finds each of its classes once. That rests on this: every
 * configuration X of the subtree is part of the configuration of one of its runs. If the event e of
 * a node fits to X, the node's left subtree has it. Else there is an f in X that is in conflict
 * with e, and with it the least one: the causes of f, C and e are a configuration of the left
 * subtree, by induction part of a run there, and the conflicting extensions of that run have f; so
 * the right subtree is known to exist, and has X. (Runs that end where all that is enabled is in D
 * are in vain, and belong to it.)
 *
 * So the decisive check of the notes ("alt", §2: whether a node has a right subtree is known when
 * its left one is done) holds for a left subtree that several tasks share: each of them *proposes*
 * the right subtrees of the shared nodes whose alternatives it met. Proposals of one subtree have
 * equal keys (ft_x_subtree_key), whatever else the tasks know, and the first one counts. When no
 * task is left, every left subtree is done; what nobody proposed does not exist.
 *
 * A task that is done twice gives the same subtrees and proposals, or is dropped as a whole; so it
 * changes nothing. */
#ifndef FT_EXPLORE_SUBTREE_H
#define FT_EXPLORE_SUBTREE_H

#include "base/memory.h"
#include "base/status.h"
#include "base/strbuf.h"
#include "explore/names.h"

typedef enum ft_x_mark_kind {
    FT_X_TAKEN, /* in C; its right subtree is not known: proposed if an alternative is met */
    FT_X_KNOWN, /* in C; its right subtree is known to exist, and somebody's */
    FT_X_AVOIDED /* in D */,
    FT_X_ALONG /* in neither */
} ft_x_mark_kind;

typedef struct ft_x_mark {
    uint8_t kind, thread, variant;
} ft_x_mark;

typedef FT_VEC(ft_x_mark) ft_x_subtree; /* without marks: everything */
typedef FT_VEC(ft_x_subtree) ft_x_subtrees;

void ft_x_subtrees_release(ft_x_subtrees *all); /* with the subtrees */

/* The same of equal ⟨C, D⟩ that were reached in the same way. */
ft_x_name ft_x_subtree_key(const ft_x_subtree *subtree);

/* As text without spaces: "+0-1.2=0>3" is thread 0 taken, then thread 1 with variant 2 avoided,
 * thread 0 taken (its right subtree is known), and thread 3 along. */
void ft_x_subtree_print(const ft_x_subtree *subtree, ft_strbuf *out);
/* Appends to a subtree without marks. FT_INPUT: it is not the text of one. */
ft_status ft_x_subtree_parse(const char *text, ft_x_subtree *subtree, ft_error *err) FT_MUST_CHECK;

#endif

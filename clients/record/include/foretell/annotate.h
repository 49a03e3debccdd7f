/* What a program may tell the recorder. Without `foretell record` all of it does nothing; without
 * the compiler wrapper it is not even called (the functions are weak). */
#ifndef FORETELL_ANNOTATE_H
#define FORETELL_ANNOTATE_H

#ifdef __cplusplus
extern "C" {
#endif

void foretell_atomic_begin(void) __attribute__((weak));
void foretell_atomic_end(void) __attribute__((weak));

#ifdef __cplusplus
}
#endif

/* What stands between is meant to be atomic: check `atomicity` looks for what tears it. */
#define FORETELL_ATOMIC_BEGIN() (foretell_atomic_begin ? foretell_atomic_begin() : (void)0)
#define FORETELL_ATOMIC_END()   (foretell_atomic_end ? foretell_atomic_end() : (void)0)

#endif

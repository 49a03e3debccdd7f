/* Fingerprints: what makes a finding the same one in another run, or after the source has changed.
 *
 * A fingerprint is 16 hex digits of the SHA-256 over the check, the kind, a property's name, and
 * the unordered set of the accesses, each as its function, what it does, its object, and the
 * content of its line: the source line where it was read, else the event's text. No line number,
 * file, thread or value is in it: numbers become '#', the operands of fork and join are left out.
 * So it survives lines that shift, functions that move and threads that are renamed.
 *
 * Within one job, findings at different locations never share one: those that would are numbered in
 * the order of their locations, the second and later ones by a hash of fingerprint and number. */
#ifndef FT_REPORT_FINGERPRINT_H
#define FT_REPORT_FINGERPRINT_H

#include <jansson.h>

#define FT_FINGERPRINT 16

/* lines: the source line of each access (NULL: not known), or NULL. */
void ft_fingerprint(const json_t *record, const char *const *lines, char out[FT_FINGERPRINT + 1]);

/* Numbers those of the records (an array) that share the text in `member`. May be called again. */
void ft_fingerprints_settle(json_t *records, const char *member);

#endif

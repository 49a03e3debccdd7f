/* The binary form of programs, which is stored under its SHA-256.
 *
 * One program has one binary form: objects, functions, registers, texts and files are numbered in
 * the order in which the form comes to them, whatever their numbers in memory are. The reader
 * refuses every other byte sequence, so equal hashes mean equal programs, and different hashes
 * different ones.
 *
 * Numbers are LEB128; strings are their length and their bytes. The form: the magic, files, texts,
 * objects, functions (binary.c has the fields in their order). */
#ifndef FT_PROGRAM_BINARY_H
#define FT_PROGRAM_BINARY_H

#include "base/digest.h"
#include "base/status.h"
#include "base/strbuf.h"
#include "program/program.h"

#define FT_PROGRAM_MAGIC "FTPROG1\n"

bool ft_program_is_binary(const void *head, size_t length);
void ft_program_write_binary(const ft_program *program, ft_strbuf *out);
/* Reads and validates. Errors have a byte offset where the bytes are at fault. *program: the caller
 * frees it. */
ft_status ft_program_read_binary(const void *bytes, size_t length, ft_program **program,
                                 ft_error *err) FT_MUST_CHECK;
/* Either form, by its first bytes. */
ft_status ft_program_read(const void *bytes, size_t length, ft_program **program,
                          ft_error *err) FT_MUST_CHECK;

void ft_program_hash(const ft_program *program, char hex[FT_DIGEST_HEX + 1]);

#endif

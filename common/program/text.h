/* The text form of programs. The reader and the printer are inverse: a program that was printed and
 * read again is equal, and prints as the same text.
 *
 *   program 1                                   ; first line; a comment goes on to the line's end
 *   file "queue.c"                              ; files are numbered from 0
 *   object @limit 4 align 4 !0:3:5 { 0: "\05\00\00\00" }
 *   object @table 16 align 8 constant { 0: @limit 8: @limit+2 }
 *   object @own 8 thread
 *   function @main() -> i32 {
 *     entry:
 *       %n = load i32 @limit !0:7:12
 *       variable "n" %n !0:7:7                  ; at %n: its address; nowhere: no register has it
 *       jump loop(i32 0)
 *     loop(%i: i32):
 *       %more = ult i32 %i, %n
 *       branch %more, body, done
 *     ...
 *   }
 *
 * An instruction is its result, its name, its attribute, its width, its operands, its targets and
 * its position (!file:line:column); which of them it has says instruction.h. A literal is decimal
 * or hexadecimal, with its width before it where the instruction does not say it. The arguments of
 * calls and targets are in parentheses. A name with other characters than letters, digits and _.$
 * is in quotes behind its sign (@"a b"); in quotes, \hh is the byte with that hexadecimal number.
 */
#ifndef FT_PROGRAM_TEXT_H
#define FT_PROGRAM_TEXT_H

#include "base/status.h"
#include "base/strbuf.h"
#include "program/program.h"

/* Reads and validates (validate.h). Errors have a line and a column where the text is at fault.
 * *program: the caller frees it. */
ft_status ft_program_read_text(const char *text, size_t length, ft_program **program,
                               ft_error *err) FT_MUST_CHECK;

void ft_program_print(const ft_program *program, ft_strbuf *out);
/* One instruction without its position, for messages. */
void ft_instruction_print(const ft_program *program, const ft_function *function,
                          const ft_instruction *instruction, ft_strbuf *out);

#endif

/* What a program must satisfy beside the shape that its reader gives it:
 *   - every symbol that is referred to is defined, and @main is a function of the parameters () or
 *     (i32, i64) with the result i32 or none
 *   - operands, results, arguments and targets have the widths that instruction.h and the called
 *     function or target block ask for, in the number that they ask for
 *   - every block ends in its only instruction that leaves it, and the entry is never a target
 *   - on every way from the entry, a register is assigned before an operand names it
 *   - first contents are inside of their objects, in order; aligns are powers of two
 *   - a by-thread object's address is in no first content
 *
 * The functions of program.h keep indices in range, and the binary reader checks them. */
#ifndef FT_PROGRAM_VALIDATE_H
#define FT_PROGRAM_VALIDATE_H

#include "base/status.h"
#include "program/program.h"

/* Errors name the function, the block and the instruction. */
ft_status ft_program_validate(const ft_program *program, ft_error *err) FT_MUST_CHECK;

#endif

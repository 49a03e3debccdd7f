/* Which variable of the source a register has the value of, before an instruction.
 *
 * The notes of a function (program.h) say where a variable gets a register's value. They hold until
 * the register is assigned again, as one of a loop is in each round, or the variable gets another
 * value; where ways meet, as far as all of them agree. */
#ifndef FT_PROGRAM_FLOW_VARIABLES_H
#define FT_PROGRAM_FLOW_VARIABLES_H

#include "program/program.h"

/* Writes for each register of the function a note (its number) of the variable that has the
 * register's value before the instruction is executed, or of the one that lies at the address in
 * the register; FT_NO_ID: none. Of several variables one is taken. */
void ft_variables_before(const ft_function *function, uint32_t instruction, uint32_t *notes);

#endif

/* One question about a program, from the command line, without a server. */
#ifndef FT_WORKER_SERVE_LOCAL_H
#define FT_WORKER_SERVE_LOCAL_H

/* Standard input: a line of JSON (context/request.h), then a program in either form. Standard
 * output: the answer, or {"error": MESSAGE} where the question or the program is at fault. Returns
 * the process's exit code: 0, or 2 where standard input or output fails. */
int ft_local_context(void);
int ft_local_cover(void); /* likewise (cover/request.h) */

#endif

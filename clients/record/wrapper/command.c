#include "command.h"

#include <stdio.h>
#include <stdlib.h>

void ft_command_add(ft_command *command, const char *argument)
{
    if (command->n + 1 >= command->room) {
        command->room = command->room ? 2 * command->room : 64;
        command->data = realloc(command->data, command->room * sizeof *command->data);
        if (!command->data) {
            fputs("foretell-cc: out of memory\n", stderr);
            exit(2);
        }
    }
    command->data[command->n++] = argument;
    command->data[command->n] = NULL;
}

void ft_command_add_all(ft_command *command, const char *const *arguments)
{
    for (; *arguments; arguments++) ft_command_add(command, *arguments);
}

ft_command ft_command_copy(const ft_command *command)
{
    ft_command copy = {0};
    if (command->n) ft_command_add_all(&copy, command->data);
    return copy;
}

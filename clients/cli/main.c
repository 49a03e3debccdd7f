/* foretell: the command line. */
#include "cli.h"

int main(int argc, char **argv)
{
    return ft_cli_main(argc, argv);
}

/* Config files: a refusal has its line; what is taken lies within the limits of the table. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "setup/config.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition, const char *what)
{
    if (condition) return;
    fprintf(stderr, "fuzz: %s\n", what);
    abort();
}

#define CHECK_TEXT(field, least, most) require(config->field != NULL, #field " is lost");
#define CHECK_NUMBER(field, least, most)                                                           \
    require(config->field + 1 > (uint64_t)(least) && config->field <= (uint64_t)(most),            \
            #field " is out of its range");

static void check_ranges(const ft_config *config)
{
#define FT_ROW(symbol, name, kind, field, standard, argument, least, most, doc)                    \
    CHECK_##kind(field, least, most)
    FT_CONFIG_TABLE(FT_ROW)
#undef FT_ROW
}

static void check_listen(const ft_config *config)
{
    char address[64] = "";
    int port = -1;
    ft_error err = FT_ERROR_INIT;
    ft_status status = ft_config_listen(config, address, &port, &err);
    require((status == FT_OK) == (err.code == FT_OK), "a refusal without a reason");
    if (status != FT_OK) return;
    require(port >= 0 && port <= 65535 && *address, "an address that is none");
    (void)ft_config_is_loopback(address);
}

static void read_bytes(const uint8_t *data, size_t size, ft_config *config)
{
    static int file = -1;
    char path[64];
    ft_error err = FT_ERROR_INIT;
    if (file < 0) file = memfd_create("config", MFD_CLOEXEC);
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    require(ftruncate(file, 0) == 0 && pwrite(file, data, size, 0) == (ssize_t)size, "no file");
    ft_status status = ft_config_read(config, path, &err);
    require(status == err.code, "a refusal without a reason");
    require(status == FT_OK || (err.line && *err.message), "a refusal without its line");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ft_config config;
    ft_config_init(&config);
    read_bytes(data, size, &config);
    check_ranges(&config);
    check_listen(&config);
    ft_config_release(&config);
    return 0;
}

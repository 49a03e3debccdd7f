#include "store/sqlite/part_file.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"

#define SUFFIX  ".part-"
#define JOURNAL "-journal" /* of a copy that failed */

/* ---- Signals --------------------------------------------------------------------------------- */

static const int SIGNALS[FT_PART_SIGNALS] = {SIGINT, SIGTERM, SIGHUP};

/* The files that a signal handler removes. */
static const char *volatile part_path, *volatile part_journal;

/* The signal comes again, with its own effect, once this returns. */
static void on_signal(int number)
{
    unlink(part_path);
    unlink(part_journal);
    raise(number);
}

/* One that is ignored (nohup) stays so. */
static void catch_signals(ft_part *part)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND};
    part_path = part->path.text;
    part_journal = part->journal.text;
    sigfillset(&action.sa_mask);
    for (int i = 0; i < FT_PART_SIGNALS; i++) {
        sigaction(SIGNALS[i], NULL, &part->before[i]);
        if (part->before[i].sa_handler != SIG_IGN) sigaction(SIGNALS[i], &action, NULL);
    }
}

/* ---- What others left ------------------------------------------------------------------------ */

static char *folder_of(const char *file)
{
    const char *slash = strrchr(file, '/');
    if (!slash) return ft_strdup(".");
    return ft_strndup(file, slash == file ? 1 : (size_t)(slash - file));
}

static bool is_gone(const char *digits)
{
    long pid = strtol(digits, NULL, 10);
    return pid == getpid() || (pid > 0 && kill((pid_t)pid, 0) != 0 && errno == ESRCH);
}

/* BASE.part-PID, or the journal of one, and nobody is at it. */
static bool is_stale(const char *name, const char *base)
{
    size_t length = strlen(base), digits = 0;
    if (strncmp(name, base, length) != 0) return false;
    name += length;
    if (strncmp(name, SUFFIX, sizeof SUFFIX - 1) != 0) return false;
    name += sizeof SUFFIX - 1;
    while (isdigit((unsigned char)name[digits])) digits++;
    bool ours = digits > 0 && digits < 10 && (!name[digits] || strcmp(name + digits, JOURNAL) == 0);
    return ours && is_gone(name);
}

static void remove_stale(const char *file)
{
    const char *slash = strrchr(file, '/');
    char *folder = folder_of(file);
    DIR *all = opendir(folder);
    struct stat info;
    for (const struct dirent *entry; all && (entry = readdir(all));) {
        if (is_stale(entry->d_name, slash ? slash + 1 : file) &&
            fstatat(dirfd(all), entry->d_name, &info, AT_SYMLINK_NOFOLLOW) == 0 &&
            S_ISREG(info.st_mode))
            unlinkat(dirfd(all), entry->d_name, 0);
    }
    if (all) closedir(all);
    free(folder);
}

/* ---- Its life -------------------------------------------------------------------------------- */

void ft_part_begin(ft_part *part, const char *file)
{
    *part = (ft_part){.file = file};
    ft_strbuf_printf(&part->path, "%s" SUFFIX "%d", file, (int)getpid());
    ft_strbuf_printf(&part->journal, "%s" JOURNAL, part->path.text);
    remove_stale(file);
    catch_signals(part);
}

static bool sync_path(const char *path, int flags)
{
    int fd = open(path, flags | O_CLOEXEC);
    bool good = fd >= 0 && fsync(fd) == 0;
    if (fd >= 0) close(fd);
    return good;
}

ft_status ft_part_publish(const ft_part *part, ft_error *err)
{
    char *folder = folder_of(part->file);
    bool good = sync_path(part->path.text, O_RDONLY) && link(part->path.text, part->file) == 0 &&
                sync_path(folder, O_RDONLY | O_DIRECTORY);
    int why = errno;
    free(folder);
    if (good) return FT_OK;
    return ft_error_set(err, why == EEXIST ? FT_CONFLICT : FT_IO, "cannot write %s: %s", part->file,
                        strerror(why));
}

void ft_part_end(ft_part *part)
{
    unlink(part->path.text);
    unlink(part->journal.text);
    for (int i = 0; i < FT_PART_SIGNALS; i++) sigaction(SIGNALS[i], &part->before[i], NULL);
    ft_strbuf_release(&part->path);
    ft_strbuf_release(&part->journal);
}

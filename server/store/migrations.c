#include "store/migrations.h"

int ft_migration_count(void)
{
    int count = 0;
    while (ft_migrations[count]) count++;
    return count;
}

ft_status ft_migration_refused(int64_t version, ft_error *err)
{
    if (version > FT_MIGRATION_MOVING)
        return ft_error_set(err, FT_UNSUPPORTED,
                            "a store is being moved into the database: run foretelld migrate again "
                            "to finish that");
    return ft_error_set(err, FT_UNSUPPORTED,
                        "the database has schema version %lld; this program supports up to %d: "
                        "use the foretelld that wrote it, or a newer one",
                        (long long)version, ft_migration_count());
}

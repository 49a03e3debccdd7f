/* What atomics of 16 bytes return and leave, with carries from one half to the other. Ends with 0
 * if all of it is what C says. */
typedef unsigned __int128 wide;

enum { ORDER = __ATOMIC_SEQ_CST };

static wide cell = (wide)1 << 64 | 5;

static int add_and_read(void)
{
    wide before = __atomic_fetch_add(&cell, (wide)3 << 64 | ~0ULL, ORDER);
    wide after = __atomic_load_n(&cell, ORDER);
    return before == ((wide)1 << 64 | 5) && after == ((wide)5 << 64 | 4) &&
           __atomic_sub_fetch(&cell, 5, ORDER) == ((wide)4 << 64 | ~0ULL);
}

static int compare_and_swap(void)
{
    wide expected = 0, held = (wide)4 << 64 | ~0ULL;
    int first = __atomic_compare_exchange_n(&cell, &expected, 9, 0, ORDER, ORDER);
    int told = expected == held;
    int second = __atomic_compare_exchange_n(&cell, &expected, 9, 0, ORDER, ORDER);
    return !first && told && second && __atomic_load_n(&cell, ORDER) == 9;
}

static int combine(void)
{
    wide high = (wide)6 << 64;
    __atomic_store_n(&cell, high | 12, ORDER);
    return __atomic_fetch_or(&cell, 3, ORDER) == (high | 12) &&
           __atomic_and_fetch(&cell, (wide)2 << 64 | 7, ORDER) == ((wide)2 << 64 | 7) &&
           __atomic_fetch_xor(&cell, 1, ORDER) == ((wide)2 << 64 | 7) &&
           __atomic_nand_fetch(&cell, 2, ORDER) == ~(wide)2 &&
           __atomic_exchange_n(&cell, 1, ORDER) == ~(wide)2 && __atomic_load_n(&cell, ORDER) == 1;
}

int main(void)
{
    return add_and_read() && compare_and_swap() && combine() ? 0 : 1;
}

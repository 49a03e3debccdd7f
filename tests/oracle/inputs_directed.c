/* Programs by hand for oracle/inputs.h, in each of which one rule decides that random programs
 * seldom need. */
#include <string.h>

#include "base/contract.h"
#include "oracle/inputs.h"

typedef struct row {
    const char *what;
    uint32_t n_threads, n_inputs, bits; /* %a, %b: inputs of so many bits, as i8, in @main */
    const char *thread;                 /* of all but @main */
    const char *main;                   /* behind it @main joins them and returns */
} row;

#define CREATE          "%t1 = create @t, 0\n"
#define EXIT(condition) "branch " condition ", leaves, goes\nleaves:\nexit 7\ngoes:\n"

static const row ROWS[] = {
    {"freed twice", 1, 0, 0, "", "%p = alloc 8\nfree %p\nfree %p\n"},
    {"a part is freed", 1, 0, 0, "", "%p = alloc 8\n%q = add i64 %p, 4\nfree %q\n"},
    {"a constant is written", 1, 0, 0, "", "store i8 1, @table+2\n"},
    {"a copy of a state is as it was", 1, 0, 0, "", "yield\nstore i8 9, @tables\nyield\n"},
    {"a copy that overlaps", 1, 0, 0, "", "copy @own0, @own0+1, 3\n"},
    {"a size that inputs decide", 1, 1, 1, "",
     "%z = zext i64 %a\n%s = add i64 %z, 4\n%p = alloc %s\n%q = add i64 %p, 4\n"
     "store i8 1, %q\n"},
    {"division by 0", 1, 1, 1, "", "%d = udiv i8 1, %a\n"},
    {"once", 1, 0, 0, "",
     "once @o, @initialises\nonce @o, @initialises\n%v = atomic_load seq_cst i8 @a0\n"
     "%c = ne i8 %v, 1\n" EXIT("%c")},
    {"a stack that is left", 1, 0, 0, "", "%p = call i64 @escapes()\n%x = load i8 %p\n"},
    {"shift keeps the sign", 1, 1, 2, "",
     "%x = or i8 %a, 128\n%y = ashr i8 %x, 1\n%c = ult i8 %y, 128\n" EXIT("%c")},
    {"extension keeps the sign", 1, 1, 2, "",
     "%x = sub i8 0, %a\n%y = sext i16 %x\n%c = eq i16 %y, 65535\n" EXIT("%c")},
    {"the least number by -1", 1, 1, 1, "",
     "%x = xor i8 %a, 128\n%y = sub i8 %a, 1\n%z = or i8 %y, 1\n%d = sdiv i8 %x, %z\n"},
    {"shift by the width", 1, 1, 1, "", "%y = xor i8 %a, 8\n%z = shl i8 1, %y\n"},
    {"signed maximum", 1, 1, 1, "",
     "%x = sub i8 0, %a\natomic_store seq_cst i8 %x, @a0\n"
     "%o = atomic_update smax seq_cst i8 @a0, 1\n%v = atomic_load seq_cst i8 @a0\n"
     "%c = ne i8 %v, 1\n" EXIT("%c")},
    {"bytes that are read together", 1, 2, 1, "",
     "store i8 %a, @g0\nstore i8 %b, @g0+1\n%x = load i16 @g0\nstore i16 0, @g0\n"
     "%c = eq i16 %x, 256\n" EXIT("%c")},
    {"an open exit code", 1, 1, 1, "", "%e = zext i32 %a\njump leaves\nleaves:\nexit %e\ngoes:\n"},
    {"more values than are tried", 1, 1, 6, "", "%w = zext i64 %a\noutput 1, @table, %w\n"},
    {"readers together", 2, 0, 0, "%r = read_lock @rw\n%s = sem_wait @sem\nrw_unlock @rw\n",
     CREATE "%r = read_lock @rw\nrw_unlock @rw\n%s = sem_post @sem\n"},
    {"a writer waits for readers", 2, 0, 0, "write_lock @rw\nstore i8 1, @g0\nrw_unlock @rw\n",
     CREATE "%r = read_lock @rw\n%q = read_lock @rw\nrw_unlock @rw\nyield\n%x = load i8 @g0\n"
            "rw_unlock @rw\n"},
    {"a recursive mutex", 2, 0, 0, "lock @m0\nstore i8 1, @g0\nunlock @m0\n",
     "mutex_init recursive @m0\n" CREATE
     "lock @m0\nlock @m0\nunlock @m0\nyield\n%x = load i8 @g0\nunlock @m0\n"},
    {"a checking mutex", 1, 0, 0, "",
     "mutex_init checking @m0\nlock @m0\n%r = lock @m0\n%c = eq i32 %r, 0\n" EXIT("%c")},
    {"another's mutex", 2, 0, 0, "lock @m0\nyield\nunlock @m0\n", CREATE "yield\nunlock @m0\n"},
    {"a timed lock", 2, 0, 0, "lock @m0\nyield\nunlock @m0\n",
     CREATE "%r = timed_lock @m0\n%c = ne i32 %r, 0\n" EXIT("%c") "unlock @m0\n"},
    {"a wait for a signal", 2, 0, 0, "lock @m0\n%r = wait @c, @m0\nyield\nunlock @m0\n",
     CREATE "yield\nlock @m0\nsignal @c\nunlock @m0\n"},
    {"a broadcast", 3, 0, 0, "lock @m0\n%r = wait @c, @m0\nunlock @m0\n",
     CREATE "%t2 = create @t, 0\nlock @m0\nbroadcast @c\nunlock @m0\n"},
    {"two posts", 1, 0, 0, "",
     "%p = sem_post @sem\n%q = sem_post @sem\n%r = sem_wait @sem\n%s = sem_wait @sem\n"},
    {"the last at a barrier", 2, 0, 0, "%r = barrier_wait @b\n%x = trunc i8 %r\nstore i8 %x, @g0\n",
     CREATE "%r = barrier_wait @b\n%x = trunc i8 %r\nstore i8 %x, @g1\n"},
    {"initialised in use", 1, 0, 0, "", "lock @m0\nmutex_init normal @m0\n"},
    {"destroyed in use", 1, 0, 0, "", "lock @m0\nmutex_destroy @m0\n"},
    {"joined twice", 2, 0, 0, "yield\n", CREATE "%j = join %t1\n"},
    {"joined behind detach", 2, 0, 0, "yield\n", CREATE "detach %t1\n"},
    {"a read at an unknown place", 2, 1, 3, "store i8 1, @g0+3\n",
     CREATE "%z = zext i64 %a\n%p = add i64 @g0, %z\n%x = load i8 %p\n"},
    {"a write at an unknown place", 2, 1, 3, "%x = load i8 @g0+3\n",
     CREATE "%z = zext i64 %a\n%p = add i64 @g0, %z\nstore i8 0, %p\n"},
    {"two unknown places", 2, 2, 2,
     "%b = load i8 @in\n%z = zext i64 %b\n%p = add i64 @g0, %z\nstore i8 0, %p\n",
     "%e = ne i8 %a, %b\n%f = eq i8 %a, 2\n%c = or i1 %e, %f\nassume %c\nstore i8 %b, @in\n" CREATE
     "%z = zext i64 %a\n%p = add i64 @g0, %z\nstore i8 0, %p\n"},
    {"a counter on the stack", 1, 0, 0, "",
     "%p = stack 1 1\njump top\ntop:\n%v = load i8 %p\n%w = add i8 %v, 1\nstore i8 %w, %p\n"
     "%x = atomic_load seq_cst i8 @a0\n%c = eq i8 %w, 2\nbranch %c, out, top\nout:\n"},
    {"a long count in memory", 1, 0, 0, "",
     "jump top\ntop:\n%v = load i16 @g0\n%w = add i16 %v, 1\nstore i16 %w, @g0\n"
     "%c = eq i16 %w, 1500\nbranch %c, out, top\nout:\n"},
};

static void put_thread(const row *r, ft_strbuf *text)
{
    ft_strbuf_printf(text, "function @t(%%argument: i64) -> i64 {\nstart:\n%sreturn i64 0\n}\n",
                     r->thread);
}

static void put_main(const row *r, ft_strbuf *text)
{
    ft_strbuf_puts(text, "function @main() -> i32 {\nstart:\nsem_init @sem, 0\n"
                         "barrier_init @b, 2\n");
    for (uint32_t k = 0; k < r->n_inputs; k++)
        ft_strbuf_printf(text, "%%open%u = input \"%c\" i%u\n%%%c = zext i8 %%open%u\n", k,
                         (int)('a' + k), r->bits, (int)('a' + k), k);
    ft_strbuf_puts(text, r->main);
    for (uint32_t t = 1; t < r->n_threads; t++)
        ft_strbuf_printf(text, "%%joined%u = join %%t%u\n", t, t);
    ft_strbuf_puts(text, "return i32 0\n}\n");
}

bool ft_inputs_directed(size_t n, inputs_program *p, const char **what)
{
    if (n >= sizeof ROWS / sizeof ROWS[0]) return false;
    const row *r = &ROWS[n];
    FT_REQUIRE(r->n_inputs <= INPUTS_MOST);
    *p = (inputs_program){.n_inputs = r->n_inputs, .n_threads = r->n_threads};
    for (uint32_t k = 0; k < r->n_inputs; k++) p->bits[k] = r->bits;
    *what = r->what;
    ft_inputs_start(p);
    put_thread(r, &p->text);
    put_main(r, &p->text);
    return true;
}

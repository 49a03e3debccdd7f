/* std::cout, std::cerr and std::clog: what is written to them is printed, in the form that they
 * have from the start. A stream is its object's address. Functions have the names that the compiler
 * gives to those of C++. */
#include <stddef.h>
#include <string.h>

#include "foretell.h"

extern int __foretell_print(long descriptor, const char *text, const unsigned long *arguments);

typedef struct stream {
    char object[272]; /* the size of std::ostream */
} stream;

stream _ZSt4cout, _ZSt4cerr, _ZSt4clog;

static long descriptor_of(const stream *s)
{
    return s == &_ZSt4cout ? 1 : 2;
}

static stream *print(stream *s, const char *format, unsigned long argument)
{
    __foretell_print(descriptor_of(s), format, &argument);
    return s;
}

static stream *print_double(stream *s, double value)
{
    unsigned long bits;
    memcpy(&bits, &value, sizeof bits);
    return print(s, "%g", bits);
}

static stream *put(stream *s, const char *bytes, size_t n)
{
    __foretell_output((int)descriptor_of(s), bytes, n);
    return s;
}

/* clang-format off */

/* ---- members of std::ostream */
stream *_ZNSolsEi(stream *s, int n) { return print(s, "%d", (unsigned long)n); }
stream *_ZNSolsEs(stream *s, short n) { return print(s, "%d", (unsigned long)n); }
stream *_ZNSolsEl(stream *s, long n) { return print(s, "%ld", (unsigned long)n); }
stream *_ZNSolsEx(stream *s, long long n) { return print(s, "%ld", (unsigned long)n); }
stream *_ZNSolsEj(stream *s, unsigned n) { return print(s, "%u", n); }
stream *_ZNSolsEt(stream *s, unsigned short n) { return print(s, "%u", n); }
stream *_ZNSolsEm(stream *s, unsigned long n) { return print(s, "%lu", n); }
stream *_ZNSolsEy(stream *s, unsigned long long n) { return print(s, "%lu", n); }
stream *_ZNSolsEb(stream *s, _Bool n) { return print(s, "%u", n); }
stream *_ZNSolsEd(stream *s, double x) { return print_double(s, x); }
stream *_ZNSolsEf(stream *s, float x) { return print_double(s, x); }
stream *_ZNSolsEPKv(stream *s, const void *p) { return p ? print(s, "%p", (unsigned long)p) : put(s, "0", 1); }
stream *_ZNSolsEPFRSoS_E(stream *s, stream *(*manipulator)(stream *)) { return manipulator(s); }
stream *_ZNSo3putEc(stream *s, char c) { return put(s, &c, 1); }
stream *_ZNSo5writeEPKcl(stream *s, const char *bytes, long n) { return put(s, bytes, (size_t)n); }
stream *_ZNSo5flushEv(stream *s) { return s; }

/* ---- operator<< of characters, texts and std::string (its first members: the bytes and their
 * number); std::endl, ends and flush */
stream *_ZStlsISt11char_traitsIcEERSt13basic_ostreamIcT_ES5_c(stream *s, char c) { return put(s, &c, 1); }
stream *_ZStlsISt11char_traitsIcEERSt13basic_ostreamIcT_ES5_PKc(stream *s, const char *text) { return put(s, text, strlen(text)); }

typedef struct string { const char *bytes; size_t n; } string;
stream *_ZStlsIcSt11char_traitsIcESaIcEERSt13basic_ostreamIT_T0_ES7_RKNSt7__cxx1112basic_stringIS4_S5_T1_EE(
    stream *s, const string *text) { return put(s, text->bytes, text->n); }

stream *_ZSt4endlIcSt11char_traitsIcEERSt13basic_ostreamIT_T0_ES6_(stream *s) { return put(s, "\n", 1); }
stream *_ZSt4endsIcSt11char_traitsIcEERSt13basic_ostreamIT_T0_ES6_(stream *s) { return put(s, "", 1); }
stream *_ZSt5flushIcSt11char_traitsIcEERSt13basic_ostreamIT_T0_ES6_(stream *s) { return s; }

/* ---- the object in each file that makes the streams, and takes them down */
void _ZNSt8ios_base4InitC1Ev(void *made) { (void)made; }
void _ZNSt8ios_base4InitD1Ev(void *made) { (void)made; }

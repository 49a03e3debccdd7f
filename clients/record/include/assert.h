/* assert() of recorded programs: the C library's, and the recording says which assertion failed. */
#undef assert
#ifdef NDEBUG
#define assert(expression) ((void)0)
#else
#ifdef __cplusplus
extern "C" {
#endif
void foretell_assert_failed(const char *expression, const char *file, unsigned line,
                            const char *function) __attribute__((noreturn));
#ifdef __cplusplus
}
#endif
#define assert(expression)                                                                         \
    ((expression) ? (void)0 : foretell_assert_failed(#expression, __FILE__, __LINE__, __func__))
#endif
#if !defined(__cplusplus) && !defined(static_assert)
#define static_assert _Static_assert
#endif

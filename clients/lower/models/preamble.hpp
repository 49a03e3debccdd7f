#line 2 "preamble.hpp"
/* The text before a file of C++.
 *
 * std::string is compiled with the file: libstdc++ has it in its library otherwise. As for
 * ThreadSanitizer, std::shared_ptr changes its counts by atomic instructions alone. */
#if __has_include(<bits/c++config.h>)
#include <bits/c++config.h>
#undef _GLIBCXX_EXTERN_TEMPLATE
#define _GLIBCXX_EXTERN_TEMPLATE -1
#undef _GLIBCXX_TSAN
#define _GLIBCXX_TSAN 1
#endif

/* C++20: atomics that wait, and through them std::latch and std::barrier, wait by models/futures.c,
 * in place of two headers of libstdc++ that count tries and call the system. Semaphores are those
 * of POSIX. */
#if __cplusplus > 201703L && __has_include(<bits/atomic_wait.h>)
#define _GLIBCXX_ATOMIC_WAIT_H 1
#define _GLIBCXX_ATOMIC_TIMED_WAIT_H 1
#define __cpp_lib_atomic_wait 201907L
#define _GLIBCXX_USE_POSIX_SEMAPHORE 1

#include <bits/chrono.h>
#include <bits/functional_hash.h>
#include <bits/gthr.h>
#include <bits/std_mutex.h>
#include <ext/numeric_traits.h>

extern "C" bool __foretell_block(const void *at, bool (*done)(void *), void *what) noexcept;
extern "C" void __foretell_notify(const void *at, bool all) noexcept;

/* Without places in the source: waits are at those of their callers. */
#define FORETELL_NO_PLACE __attribute__((nodebug))

namespace std {
namespace __detail {
using __platform_wait_t = int;
inline constexpr size_t __platform_wait_alignment = 4;
inline void __thread_relax() noexcept {}
inline void __thread_yield() noexcept {}
template <typename Done> bool __atomic_spin(Done &done) noexcept { return done(); }
} // namespace __detail

template <typename Type, typename Done>
FORETELL_NO_PLACE void __atomic_wait_address(const Type *at, Done done) noexcept
{
    auto look = [](void *what) FORETELL_NO_PLACE -> bool { return (*static_cast<Done *>(what))(); };
    while (!done() && !__foretell_block(at, look, &done)) {}
}

template <typename Type, typename Value>
FORETELL_NO_PLACE void __atomic_wait_address_v(const Type *at, Type old, Value value) noexcept
{
    auto differs = [&]() FORETELL_NO_PLACE -> bool {
        Type now = value();
        return __builtin_memcmp(&now, &old, sizeof now) != 0;
    };
    std::__atomic_wait_address(at, differs);
}

template <typename Done>
FORETELL_NO_PLACE void __atomic_wait_address_bare(const int *at, Done done) noexcept
{
    std::__atomic_wait_address(at, done);
}

template <typename Type>
FORETELL_NO_PLACE void __atomic_notify_address(const Type *at, bool all) noexcept
{
    __foretell_notify(at, all);
}

FORETELL_NO_PLACE inline void __atomic_notify_address_bare(const int *at, bool all) noexcept
{
    __foretell_notify(at, all);
}

/* Named by headers, called by nothing: semaphores wait otherwise. */
template <typename Done, typename Time>
bool __atomic_wait_address_until_bare(const int *at, Done done, const Time &time) noexcept;
template <typename Done, typename Time>
bool __atomic_wait_address_for_bare(const int *at, Done done, const Time &time) noexcept;
} // namespace std
#undef FORETELL_NO_PLACE
#endif

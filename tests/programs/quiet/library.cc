// What libstdc++ orders by itself: references to exceptions and to what they say, initialisers that
// throw, the state of stop tokens (updated by compare-and-swap, also under a lock of the
// program's); and destructors that write the table of virtual functions that stands there already.
#include <condition_variable>
#include <exception>
#include <filesystem>
#include <future>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <thread>
#if __cplusplus > 201703L && __has_include(<stop_token>)
#include <stop_token>
#endif

static std::mutex m;
static std::once_flag once;
static int tries, made;

static void make()
{
    if (tries++ == 0) throw std::runtime_error("not yet");
    made = 7;
}

static int get()
{
    for (;;) try {
            std::call_once(once, make);
            return made;
        } catch (const std::runtime_error &) {
        }
}

// Whoever lets go of the exception last frees it.
static int throws()
{
    std::promise<int> promise;
    auto result = promise.get_future();
    std::thread t([](std::promise<int> p) {
        try {
            throw 5;
        } catch (...) {
            p.set_exception(std::current_exception());
        }
    }, std::move(promise));
    int seen = 0;
    try {
        result.get();
    } catch (int &n) {
        seen = n;
    }
    t.join();
    return seen;
}

// Whoever lets go of a message last frees it: of the last error, or of a copy.
template <class error> struct reports {
    std::optional<error> last;
    size_t length = 0;

    void report(const error &e)
    {
        std::optional<error> seen;
        {
            std::lock_guard<std::mutex> guard(m);
            last = e;
        }
        {
            std::lock_guard<std::mutex> guard(m);
            seen = last;
        }
        size_t n = std::string(seen->what()).size();
        std::lock_guard<std::mutex> guard(m);
        length += n;
    }

    explicit reports(error (*make)(int))
    {
        std::thread a([&] { report(make(1)); }), b([&] { report(make(2)); });
        a.join();
        b.join();
    }
};

static void says()
{
    reports<std::runtime_error>(
        [](int n) { return std::runtime_error("error " + std::to_string(n)); });
    reports<std::out_of_range>(
        [](int n) { return std::out_of_range("index " + std::to_string(n)); });
    reports<std::filesystem::filesystem_error>([](int n) {
        return std::filesystem::filesystem_error("file", "/no/such/file/" + std::to_string(n), {});
    });
}

struct task {
    std::thread thread;
    void start() { thread = std::thread([this] { step(); step(); }); }
    virtual void step() {}
    virtual ~task() {}
};
struct count : task {
    int steps = 0;
    void step() override { steps++; }
    ~count() override { thread.join(); }
};

static void stops()
{
#ifdef __cpp_lib_jthread
    std::condition_variable_any changed;
    int work = 0;
    std::jthread t([&](std::stop_token token) {
        std::unique_lock<std::mutex> guard(m);
        while (changed.wait(guard, token, [&] { return work > 0; })) work--;
    });
    for (int i = 0; i < 2; i++) {
        std::lock_guard<std::mutex> guard(m);
        work++;
        changed.notify_one();
    }
    t.request_stop();
    t.join();
#endif
}

int main()
{
    std::thread a(get), b(get);
    a.join();
    b.join();
    task *k = new count;
    k->start();
    delete k;
    stops();
    says();
    return throws() + get() != 12;
}

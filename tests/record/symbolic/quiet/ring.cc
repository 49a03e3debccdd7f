// A bounded queue by sequence numbers (Vyukov's): each thread's address is a computed one.
#include <atomic>
#include <cassert>
#include <thread>

struct place {
    std::atomic<unsigned> turn{0};
    int content = 0;
};

static place places[4];
static std::atomic<unsigned> in{0}, out{0};

static bool put(int value)
{
    unsigned at = in.load();
    for (;;) {
        place &p = places[at & 3];
        int ahead = (int)(p.turn.load() - at);
        if (ahead < 0) return false;
        if (ahead > 0) {
            at = in.load();
        } else if (in.compare_exchange_weak(at, at + 1)) {
            p.content = value;
            p.turn.store(at + 1);
            return true;
        }
    }
}

static bool take(int &value)
{
    unsigned at = out.load();
    for (;;) {
        place &p = places[at & 3];
        int ahead = (int)(p.turn.load() - (at + 1));
        if (ahead < 0) return false;
        if (ahead > 0) {
            at = out.load();
        } else if (out.compare_exchange_weak(at, at + 1)) {
            value = p.content;
            p.turn.store(at + 4);
            return true;
        }
    }
}

int main()
{
    for (unsigned i = 0; i < 4; i++) places[i].turn = i;
    std::atomic<int> sum{0};
    auto putting = [] {
        for (int i = 1; i <= 3; i++)
            while (!put(i)) std::this_thread::yield();
    };
    auto taking = [&] {
        for (int i = 0, value; i < 3; i++) {
            while (!take(value)) std::this_thread::yield();
            sum += value;
        }
    };
    std::thread a(putting), b(putting), c(taking), d(taking);
    a.join();
    b.join();
    c.join();
    d.join();
    assert(sum == 12);
}

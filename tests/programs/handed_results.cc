// Results that main has from threads by their ends alone, through std::thread, whose code no hook
// sees: two workers draw the same number where the lock is given up in between.
#include <atomic>
#include <cassert>
#include <mutex>
#include <thread>
#include <vector>

static std::mutex lock;
static int next_number = 1;
static std::atomic<int> drawn;

struct ticket {
    int number = 0;
    std::atomic<int> marks{0};
};

static int look()
{
    std::lock_guard<std::mutex> guard(lock);
#ifdef FIXED
    return next_number++;
#else
    return next_number;
#endif
}

static void step(int number)
{
#ifdef FIXED
    (void)number;
#else
    std::lock_guard<std::mutex> guard(lock);
    next_number = number + 1;
#endif
}

static void draw(ticket &to)
{
    int number = look();
    step(number);
    to.number = number;
    to.marks.fetch_add(number);
    drawn++;
}

int main()
{
    std::vector<ticket> tickets(2);
    std::thread first(draw, std::ref(tickets[0])), second(draw, std::ref(tickets[1]));
    first.join();
    second.join();
    int all = 0;
    for (ticket &t : tickets) all += t.marks.fetch_add(1);
    assert(drawn == 2);
    assert(tickets[0].number != tickets[1].number);
    assert(all == 3);
}

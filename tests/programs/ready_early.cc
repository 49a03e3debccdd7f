/* A result is ready while its thread's own object has not written yet what others read. FIXED: it is
 * ready when the thread ends, as what the task of another one gives is. */
#include <future>
#include <thread>

static int closed;

struct session {
    bool open = false;
    ~session()
    {
        if (open) closed++;
    }
};
static thread_local session mine;

static void serve(std::promise<int> answer)
{
    mine.open = true;
#ifdef FIXED
    answer.set_value_at_thread_exit(3);
#else
    answer.set_value(3);
#endif
}

static int work(int n)
{
    mine.open = true;
    return 2 * n;
}

int main()
{
    std::promise<int> answer;
    std::future<int> first = answer.get_future();
    std::thread(serve, std::move(answer)).detach();
    int got = first.get() + closed;
    std::packaged_task<int(int)> task(work);
    std::future<int> second = task.get_future();
    std::thread worker([&task] { task.make_ready_at_thread_exit(4); });
    got += second.get() + closed;
    worker.join();
    return got < 11;
}

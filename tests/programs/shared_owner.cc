// One thread takes a share of what another one gives up (FIXED: under a lock): what the first one
// counts up may be gone.
#include <memory>
#include <mutex>
#include <thread>

static std::shared_ptr<int> current = std::make_shared<int>(1);
static std::mutex lock;

static void change(bool take)
{
#ifdef FIXED
    std::lock_guard<std::mutex> guard(lock);
#endif
    if (take)
        std::shared_ptr<int> own = current;
    else
        current.reset();
}

int main()
{
    std::thread reader(change, true), writer(change, false);
    reader.join();
    writer.join();
    return !lock.try_lock();
}

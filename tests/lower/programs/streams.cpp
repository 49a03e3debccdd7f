// Text, streams, clocks and locks of C++17.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <thread>
#include <vector>

static std::shared_mutex lock;
static std::once_flag once;
static int stock;

static void add(int n)
{
    std::call_once(once, [] { stock = 10; });
    std::unique_lock held(lock);
    stock += n;
}

int main()
{
    std::string text = "a long text that does not fit into the object itself";
    text += ", " + std::to_string(42) + ", " + std::string(3, 'x');
    std::cout << text << ' ' << text.size() << " " << text.find("fit") << std::endl;
    std::cout << text.substr(2, 4) << '\n' << (text < "b") << true << "\n";
    std::map<std::string, int> counts;
    for (const char *word : {"b", "a", "b"}) counts[word]++;
    for (const auto &[word, n] : counts) std::cout << word << n << (short)-n << 7ul << ' ';
    std::cout << 1.5 << ' ' << 1e9 << ' ' << 0.1f << std::flush << "\n";
    int all[] = {3, 1, 2};
    std::sort(all, all + 3);
    auto shared = std::make_shared<std::vector<int>>(all, all + 3);
    auto begin = std::chrono::steady_clock::now();
    std::thread first(add, 1), second([shared] { add(shared->back()); });
    first.join();
    second.join();
    std::cout << (std::chrono::steady_clock::now() >= begin) << shared.use_count() << std::endl;
    std::shared_lock held(lock);
    std::cerr << "done\n";
    return stock;
}

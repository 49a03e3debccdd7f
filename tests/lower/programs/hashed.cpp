// Hash tables: what they hold, whatever the order; hashes of strings; a condition of any lock.
#include <condition_variable>
#include <cstdio>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <unordered_set>
struct pair_hash {
    size_t operator()(const std::pair<int, int> &p) const { return (size_t)(p.first * 31 + p.second); }
};
int main()
{
    std::unordered_map<int, int> squares;
    for (int i = 0; i < 60; i++) squares[i * 7] = i * i;
    for (int i = 0; i < 60; i += 3) squares.erase(i * 7);
    long sum = 0;
    for (const auto &s : squares) sum += s.first + s.second;
    std::printf("%zu %ld %zu %zu\n", squares.size(), sum, squares.count(7), squares.count(8));
    std::unordered_map<std::string, int> words;
    for (const char *w : {"be", "or", "not", "to", "be", "a rather long word of some thirty letters"}) words[w]++;
    std::printf("%zu %d %d\n", words.size(), words["be"], words["not"]);
    std::unordered_multimap<int, char> many;
    for (int i = 0; i < 5; i++) many.emplace(i % 2, (char)('a' + i));
    std::printf("%zu %zu\n", many.count(0), many.count(1));
    std::unordered_set<std::pair<int, int>, pair_hash> points;
    points.max_load_factor(0.5f);
    for (int i = 0; i < 30; i++) points.insert({i % 10, i % 3});
    points.reserve(100);
    std::printf("%zu %d\n", points.size(), (double)points.size() / (double)points.bucket_count() <= 0.5);
    for (const char *t : {"", "a", "eight by", "nineteen characters"})
        std::printf("%016zx\n", std::hash<std::string>()(t));
    std::mutex m;
    std::condition_variable_any any;
    bool ready = false;
    std::thread t([&] {
        std::lock_guard<std::mutex> held(m);
        ready = true;
        any.notify_one();
    });
    {
        std::unique_lock<std::mutex> held(m);
        any.wait(held, [&] { return ready; });
    }
    t.join();
    std::printf("%d\n", ready);
}

// Tasks by std::async whose results meet in a shared future. Arguments: tasks, readers.
#include <cstdlib>
#include <future>
#include <vector>

int main(int n, char **words)
{
    int tasks = n > 1 ? std::atoi(words[1]) : 2, readers = n > 2 ? std::atoi(words[2]) : 2;
    std::promise<int> base;
    std::shared_future<int> known = base.get_future().share();
    std::vector<std::future<int>> answers;
    for (int i = 0; i < tasks; i++)
        answers.push_back(std::async(std::launch::async, [known, i] { return known.get() + i; }));
    for (int i = 0; i < readers; i++)
        answers.push_back(std::async(std::launch::async, [known] { return known.get(); }));
    base.set_value(10);
    int sum = 0;
    for (auto &a : answers) sum += a.get();
    return sum != 10 * (tasks + readers) + tasks * (tasks - 1) / 2;
}

/* What a stream puts into the program's strings and buffers the calling thread has written. The
 * count is under no lock; with FIXED it is. */
#include <chrono>
#include <iostream>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>

static std::string word, line;
static char bytes[8], rest[8], last[8];
static std::mutex lock;
static int count;

static void add()
{
#ifdef FIXED
    std::lock_guard<std::mutex> held(lock);
#endif
    count++;
}

int main()
{
    std::thread other(add);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    std::istringstream text("words with more than fifteen letters\nof several kinds and no end");
    text >> word;
    std::getline(text, line);
    text.read(bytes, 3);
    text.getline(rest, sizeof rest, 'v');
    text >> last;
    if (word[0] == 'w' && line.size() > 20 && line[30] && bytes[0] && rest[0] && last[0]) add();
    other.join();
    std::cout << word << line << bytes << rest << last << std::endl;
    return count - 2;
}

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>
struct Shape {
    virtual int area() const = 0;
    virtual ~Shape() {}
};
struct Square : Shape {
    int a;
    explicit Square(int a) : a(a) {}
    int area() const override { return a * a; }
};
struct Rect : Shape {
    int a, b;
    Rect(int a, int b) : a(a), b(b) {}
    int area() const override { return a * b; }
    ~Rect() override { std::puts("~Rect"); }
};
template <typename T> T most(T a, T b)
{
    return a > b ? a : b;
}
struct Log {
    const char *n;
    explicit Log(const char *n) : n(n) { std::printf("begin %s\n", n); }
    ~Log() { std::printf("end %s\n", n); }
};
static Log global("global");
static Log &local()
{
    static Log l("local");
    return l;
}
static void last()
{
    std::puts("last");
}
__attribute__((constructor)) static void early()
{
    std::puts("early");
}
__attribute__((destructor)) static void late()
{
    std::puts("late");
}
int main()
{
    std::atexit(last);
    local();
    local();
    std::vector<std::unique_ptr<Shape>> all;
    all.emplace_back(new Square(3));
    all.emplace_back(new Rect(2, 5));
    int sum = 0;
    for (auto &s : all) sum += s->area();
    std::printf("%d %d %s\n", sum, most(3, 4), most<const char *>("a", "a"));
    std::vector<int> v{5, 3, 1, 4};
    std::sort(v.begin(), v.end());
    for (int x : v) std::printf("%d ", x);
    std::puts("");
    std::atomic<int> n{0};
    n += 3;
    auto add = [&](int k) { return sum + k; };
    std::printf("%d %d\n", n.load(), add(1));
    return sum & 7;
}

// Trees and lists of the library, against a plain array.
#include <cstdio>
#include <list>
#include <map>
#include <set>

static unsigned state = 7;
static unsigned next(unsigned n)
{
    state = state * 1103515245u + 12345u;
    return (state >> 16) % n;
}

static bool same(const std::set<int> &s, const bool *in, int n)
{
    int at = -1, count = 0;
    for (int x : s) {
        for (at++; at < n && !in[at]; at++) count += 0;
        if (x != at) return false;
        count++;
    }
    for (auto i = s.rbegin(); i != s.rend(); ++i) {
        if (*i != at) return false;
        for (at--; at >= 0 && !in[at]; at--) count += 0;
    }
    int all = 0;
    for (int i = 0; i < n; i++) all += in[i];
    return count == all && (int)s.size() == all;
}

int main()
{
    enum { N = 24 };
    bool in[N] = {};
    std::set<int> s;
    int bad = 0;
    for (int i = 0; i < 300; i++) {
        int x = (int)next(N);
        if (next(2))
            s.insert(x), in[x] = true;
        else
            s.erase(x), in[x] = false;
        bad += !same(s, in, N);
    }
    std::multimap<int, int> m;
    for (int i = 0; i < 20; i++) m.emplace((int)next(5), i);
    m.erase(3);
    for (auto &[k, v] : m) std::printf("%d:%d ", k, v);
    std::map<int, int> copy(m.begin(), m.end());
    std::printf("| %zu %d %d\n", copy.size(), copy.begin()->first, copy.rbegin()->first);
    std::list<int> a, b;
    for (int i = 0; i < 6; i++) a.push_back((int)next(50)), b.push_front((int)next(50));
    a.sort();
    b.sort();
    a.merge(b);
    a.remove_if([](int x) { return x % 3 == 0; });
    a.reverse();
    b.splice(b.begin(), a, a.begin());
    a.swap(b);
    for (int x : a) std::printf("%d ", x);
    std::printf("|");
    for (int x : b) std::printf(" %d", x);
    std::printf("\n%d\n", bad);
    return bad;
}

// Threads fill the C++ library's cache of characters with the same bytes.
#include <locale>
#include <thread>

static void narrow()
{
    std::use_facet<std::ctype<char>>(std::locale::classic()).narrow('a', 'b');
}

int main()
{
    std::thread a(narrow), b(narrow);
    a.join();
    b.join();
    return 0;
}

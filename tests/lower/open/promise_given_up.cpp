/* assertion: a thread answers a request for an amount unless the account is short of it, and gives
 * up its promise then, so that get() throws: without exceptions, the program ends. */
#include <cassert>
#include <foretell/input.h>
#include <future>
#include <thread>

static void answer(std::promise<unsigned char> promise, unsigned char balance, unsigned char amount)
{
#ifdef FIXED
    if (amount > balance) amount = balance;
#endif
    if (amount <= balance) promise.set_value(balance - amount);
}

int main()
{
    unsigned char balance, amount;
    foretell_input(&balance, sizeof balance, "balance");
    foretell_input(&amount, sizeof amount, "amount");
    std::promise<unsigned char> promise;
    auto rest = promise.get_future();
    std::thread other(answer, std::move(promise), balance, amount);
    other.join();
    assert(rest.get() <= balance);
    return 0;
}

/* A base class starts a thread before the object is whole: the thread calls a virtual function
 * while the constructor of the derived class changes the table that it is looked up in. FIXED: who
 * made the object starts the thread. The destructor stores the table that stands there already,
 * which changes nothing for the thread. */
#include <thread>

namespace
{

class worker
{
  public:
    virtual ~worker()
    {
        if (thread.joinable()) thread.join();
    }
    void start()
    {
        thread = std::thread([this] { run(); });
    }
    virtual void run() { done = 1; }

  protected:
    std::thread thread;
    int done = 0;
};

class printer : public worker
{
  public:
#ifndef FIXED
    printer()
    {
        start();
    }
#endif
    void run() override
    {
        pages = 2;
    }

  private:
    int pages = 0;
};

class laser : public printer
{
  public:
#ifdef FIXED
    ~laser() override
    {
        thread.join();
    }
#endif
    void run() override
    {
        done = 3;
    }
};

} // namespace

int main()
{
    laser one;
#ifdef FIXED
    one.start();
#endif
    return 0;
}

// Two workers take orders from C++ streams, from sockets that the program connects itself, a named
// pipe, an epoll descriptor and signals: the first one says to use what the second one says to
// free. Who is first to take is first to do it only while it holds the lock.
#include <arpa/inet.h>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <mutex>
#include <netinet/in.h>
#include <pthread.h>
#include <sstream>
#include <string>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum Way { WORD, LINE, TEXT, STREAM, DATAGRAM, LOCAL, MANY, NAMED, READY, SIGNAL, WAITED, WAYS };
enum { USE = 'u', END = 'e' };

static std::mutex locks[WAYS];
static int *objects[WAYS];
static std::ifstream words, lines;
static std::stringstream text;
static int fds[WAYS], second;

static int take(int way)
{
    std::string word;
    char order = 0;
    iovec piece = {&order, 1};
    mmsghdr message = {};
    epoll_event ready = {};
    signalfd_siginfo signal = {};
    sigset_t both;
    int number = 0;
    message.msg_hdr.msg_iov = &piece;
    message.msg_hdr.msg_iovlen = 1;
    switch (way) {
    case WORD:
        words >> word;
        return word[0];
    case LINE:
        std::getline(lines, word);
        return word[0];
    case TEXT:
        text >> word;
        return word[0];
    case MANY:
        return recvmmsg(fds[MANY], &message, 1, 0, nullptr) == 1 ? order : 0;
    case READY:
        epoll_wait(fds[READY], &ready, 1, -1);
        return ready.data.fd == second ? END : USE;
    case SIGNAL:
        if (read(fds[SIGNAL], &signal, sizeof signal) != sizeof signal) return 0;
        return signal.ssi_signo == SIGUSR1 ? USE : END;
    case WAITED:
        sigemptyset(&both);
        sigaddset(&both, SIGHUP);
        sigaddset(&both, SIGTERM);
        sigwait(&both, &number);
        return number == SIGHUP ? USE : END;
    default:
        return read(fds[way], &order, 1) == 1 ? order : 0;
    }
}

static void obey(int way, int order)
{
    if (order == USE) *objects[way] = way;
    if (order == END) free(objects[way]);
}

static void *work(void *)
{
    for (int way = 0; way < WAYS; way++) {
        locks[way].lock();
        int order = take(way);
#ifdef FIXED
        obey(way, order);
        locks[way].unlock();
#else
        locks[way].unlock();
        obey(way, order);
#endif
    }
    return nullptr;
}

// The end from which orders are taken; the other one is in *to.
static int connect_to(int domain, int type, const char *path, int *to)
{
    union {
        sockaddr any;
        sockaddr_in internet;
        sockaddr_un local;
    } a = {};
    socklen_t size = domain == AF_UNIX ? sizeof a.local : sizeof a.internet;
    int listener = socket(domain, type, 0);
    a.any.sa_family = (sa_family_t)domain;
    if (domain == AF_UNIX)
        strcpy(a.local.sun_path, path);
    else
        a.internet.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind(listener, &a.any, size)) exit(2);
    if (domain != AF_UNIX && getsockname(listener, &a.any, &size)) exit(2);
    if (type == SOCK_STREAM && listen(listener, 1)) exit(2);
    *to = socket(domain, type, 0);
    if (connect(*to, &a.any, size)) exit(2);
    return type == SOCK_STREAM ? accept(listener, nullptr, nullptr) : listener;
}

static void open_all(const std::string &folder)
{
    const std::string file = folder + "/orders", named = folder + "/pipe",
                      local = folder + "/local";
    int to[WAYS], other[2], ready[2];
    sigset_t all;
    std::ofstream(file) << "u\ne\n";
    words.open(file);
    lines.open(file);
    text << (char)USE << ' ' << (char)END;
    fds[STREAM] = connect_to(AF_INET, SOCK_STREAM, nullptr, &to[STREAM]);
    fds[DATAGRAM] = connect_to(AF_INET, SOCK_DGRAM, nullptr, &to[DATAGRAM]);
    fds[MANY] = connect_to(AF_INET, SOCK_DGRAM, nullptr, &to[MANY]);
    fds[LOCAL] = connect_to(AF_UNIX, SOCK_STREAM, local.c_str(), &to[LOCAL]);
    if (mkfifo(named.c_str(), 0600)) exit(2);
    fds[NAMED] = to[NAMED] = open(named.c_str(), O_RDWR);
    for (int way : {STREAM, DATAGRAM, MANY, LOCAL, NAMED})
        for (char order : {(char)USE, (char)END})
            if (write(to[way], &order, 1) != 1) exit(2);
    if (pipe(ready) || pipe(other)) exit(2);
    second = other[0];
    fds[READY] = epoll_create1(0);
    for (int fd : {ready[0], other[0]}) {
        epoll_event event = {};
        event.events = EPOLLIN | EPOLLONESHOT;
        event.data.fd = fd;
        epoll_ctl(fds[READY], EPOLL_CTL_ADD, fd, &event);
    }
    if (write(ready[1], "x", 1) != 1 || write(other[1], "x", 1) != 1) exit(2);
    sigemptyset(&all);
    for (int number : {SIGUSR1, SIGUSR2, SIGHUP, SIGTERM}) sigaddset(&all, number);
    pthread_sigmask(SIG_BLOCK, &all, nullptr);
    sigdelset(&all, SIGHUP);
    sigdelset(&all, SIGTERM);
    fds[SIGNAL] = signalfd(-1, &all, 0);
    for (int number : {SIGUSR1, SIGUSR2, SIGHUP, SIGTERM}) kill(getpid(), number);
    for (const std::string &path : {file, named, local}) unlink(path.c_str());
    rmdir(folder.c_str());
}

int main()
{
    char folder[] = "/tmp/sources.XXXXXX";
    pthread_t first, last;
    for (int way = 0; way < WAYS; way++) objects[way] = (int *)malloc(sizeof(int));
    if (!mkdtemp(folder)) return 2;
    open_all(folder);
    pthread_create(&first, nullptr, work, nullptr);
    pthread_create(&last, nullptr, work, nullptr);
    pthread_join(first, nullptr);
    pthread_join(last, nullptr);
    return 0;
}

/* What comes from outside: time, random numbers, files, streams, pipes, a connection to itself.
 * What the program does depends on all of them, and one variable races. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/times.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

static int racing, sent, listener, event, tick[2];
static unsigned long sum; /* of all inputs, main's after the join */

static void add(const void *memory, size_t n)
{
    const unsigned char *bytes = memory;
    for (size_t i = 0; i < n; i++) sum = sum * 31 + bytes[i];
}

static void clocks(void)
{
    struct timeval t;
    struct timespec s;
    struct tms all;
    gettimeofday(&t, NULL);
    add(&t, sizeof t);
    clock_gettime(CLOCK_MONOTONIC, &s);
    add(&s, sizeof s);
    sum += (unsigned long)time(NULL) + (unsigned long)clock() + (unsigned long)times(&all);
}

static void chance(void)
{
    unsigned char bytes[16];
    if (getrandom(bytes, 16, 0) != 16 || getentropy(bytes + 8, 8)) abort();
    add(bytes, 16);
    srand((unsigned)sum);
    sum += (unsigned long)rand() + (unsigned long)random() + (unsigned long)lrand48();
    int fd = open("/dev/urandom", O_RDONLY);
    if (read(fd, bytes, 16) != 16) abort();
    add(bytes, 16);
    close(fd);
}

static void streams(const char *path)
{
    char *line = NULL, *made, word[20], block[8];
    size_t room = 0;
    int n, c;
    FILE *file = fopen(path, "r");
    struct stat about;
    if (!file || stat(path, &about)) abort();
    sum += (unsigned long)about.st_ino;
    if (getline(&line, &room, file) > 0) add(line, strlen(line));
    if (fscanf(file, "%d %19s %ms", &n, word, &made) == 3) {
        sum += (unsigned)n;
        add(word, strlen(word));
        add(made, strlen(made));
        free(made);
    }
    if (fgets(word, sizeof word, file)) add(word, strlen(word));
    add(block, fread(block, 1, sizeof block, file));
    while ((c = fgetc(file)) != EOF) sum += (unsigned)c;
    sum += feof(file) != 0;
    fclose(file);
    free(line);
    struct iovec parts[2] = {{word, 4}, {block, 4}};
    int fd = open(path, O_RDONLY);
    if (pread(fd, block, 4, 2) != 4 || readv(fd, parts, 2) != 8) abort();
    add(block, 4);
    add(word, 4);
    sum += (unsigned long)lseek(fd, 0, SEEK_CUR);
    close(fd);
    if (fgets(word, sizeof word, stdin)) add(word, strlen(word));
}

static void *other(void *unused)
{
    char text[8];
    struct epoll_event found = {.events = EPOLLIN, .data.ptr = &sent};
    uint64_t count;
    int epoll = epoll_create1(0), peer = accept(listener, NULL, NULL);
    epoll_ctl(epoll, EPOLL_CTL_ADD, peer, &found);
    found.data.ptr = NULL;
    if (epoll_wait(epoll, &found, 1, -1) != 1 || found.data.ptr != &sent) abort();
    if (recv(peer, text, 6, MSG_WAITALL) != 6 || strcmp(text, "hello")) abort();
    racing++;
    sent++; /* behind what main sent: no race */
    if (send(peer, "there", 6, 0) != 6) abort();
    if (read(event, &count, sizeof count) != sizeof count || count != 3) abort();
    sent++;
    if (write(tick[1], "x", 1) != 1) abort();
    usleep(1000);
    close(peer);
    close(epoll);
    return unused;
}

static void network(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t length = sizeof address;
    pthread_t thread;
    char text[8];
    uint64_t count = 3;
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    listener = socket(AF_INET, SOCK_STREAM, 0);
    event = eventfd(0, 0);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (pipe(tick) || bind(listener, (struct sockaddr *)&address, length) || listen(listener, 1))
        abort();
    getsockname(listener, (struct sockaddr *)&address, &length);
    sum += address.sin_port;
    pthread_create(&thread, NULL, other, NULL);
    sent = 1;
    if (connect(fd, (struct sockaddr *)&address, length) || send(fd, "hello", 6, 0) != 6) abort();
    racing += 10;
    struct pollfd wait = {.fd = fd, .events = POLLIN};
    if (poll(&wait, 1, -1) != 1 || recv(fd, text, 6, MSG_WAITALL) != 6) abort();
    add(text, 6);
    sent++;
    if (write(event, &count, sizeof count) != sizeof count || read(tick[0], text, 1) != 1) abort();
    sent++;
    pthread_join(thread, NULL);
    close(fd);
    close(listener);
}

int main(int argc, char **argv)
{
    clocks();
    chance();
    if (argc > 1) streams(argv[1]);
    network();
    printf("%lu %d %d\n", sum, sent, (int)getpid());
    return 0;
}

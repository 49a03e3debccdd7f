/* Jobs in libuv's pool of threads, as the system has it, without hooks: the queue, its lock and the
 * wake-ups are the library's own. With an argument a thread beside them races for the sum. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <uv.h>

enum { JOBS = 12 };
struct job {
    uv_work_t request;
    int in, out;
};
static struct job fixed;
static int total;

static void work(uv_work_t *request)
{
    struct job *j = request->data;
    j->out = j->in * 2;
}

static void end(uv_work_t *request, int status)
{
    struct job *j = request->data;
    total += status ? 0 : j->out;
    if (j != &fixed) free(j);
}

static void *spoil(void *unused)
{
    total = 0;
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t beside;
    (void)argv;
    if (argc > 1) pthread_create(&beside, NULL, spoil, NULL);
    for (int i = 0; i < JOBS; i++) {
        struct job *j = i == JOBS / 2 ? &fixed : malloc(sizeof *j);
        j->in = i;
        j->request.data = j;
        uv_queue_work(uv_default_loop(), &j->request, work, end);
    }
    uv_run(uv_default_loop(), UV_RUN_DEFAULT);
    if (argc > 1) return pthread_join(beside, NULL);
    printf("%d\n", total);
    return total != JOBS * (JOBS - 1);
}

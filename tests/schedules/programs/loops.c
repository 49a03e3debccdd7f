/* A loop without synchronisation, and one whose rounds an input decides: a class for each. */
#include <foretell/input.h>
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static unsigned char n, k;
static int sum;
int main(void)
{
    foretell_input(&n, 1, "n");
    foretell_input(&k, 1, "k");
    int s = 0;
    for (int i = 0; i < n; i++) s += i;
    if (s > 4) {
        pthread_mutex_lock(&m);
        sum++;
        pthread_mutex_unlock(&m);
    }
    for (int i = 0; i < (k & 3); i++) {
        pthread_mutex_lock(&m);
        sum++;
        pthread_mutex_unlock(&m);
    }
    return 0;
}

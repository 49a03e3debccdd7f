/* Threads that OpenMP orders. */
int main(void)
{
    int sum = 0;
#pragma omp parallel for reduction(+ : sum) num_threads(2)
    for (int i = 0; i < 8; i++) sum += i;
    return sum != 28;
}

/* For LD_PRELOAD: a clock that runs 200 times as fast, and waits that are as short. */
#include <errno.h>
#include <semaphore.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t which, struct timespec *now)
{
    static long begin;
    if (syscall(SYS_clock_gettime, which, now)) return -1;
    if (which != CLOCK_MONOTONIC) return 0;
    if (!begin) begin = now->tv_sec;
    const long nanoseconds = 200 * now->tv_nsec;
    now->tv_sec = begin + 200 * (now->tv_sec - begin) + nanoseconds / 1000000000;
    now->tv_nsec = nanoseconds % 1000000000;
    return 0;
}

int sem_clockwait(sem_t *semaphore, clockid_t which, const struct timespec *until)
{
    (void)which, (void)until;
    for (int k = 0; k < 10; k++) {
        if (!sem_trywait(semaphore)) return 0;
        usleep(5000);
    }
    errno = ETIMEDOUT;
    return -1;
}

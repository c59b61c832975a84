#include "liveness.h"

#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/leftovers.h"
#include "base/stop.h"
#include "parallel/team.h"

/* Where rank 0 can be reached, and what a process shows that it belongs to this run. */
enum { MOST_ADDRESSES = 16 };
typedef struct meeting {
    uint64_t secret;
    uint32_t count, address[MOST_ADDRESSES]; /* IPv4, in the order of the network, as port */
    uint16_t port;
} meeting;

typedef struct greeting {
    uint64_t secret;
    int32_t rank;
    char host[60];
} greeting;

/* What is said over a connection. */
enum { SIGNALLED = 1, IS_GONE, GOOD_BYE };
typedef struct word {
    int32_t what, value;
    char host[60];
} word;

static struct {
    pthread_t thread;
    bool running;
    int listening;
    int *peer; /* [ranks] at rank 0, [1] elsewhere; -1: none */
    char (*host)[60];
    int count, passed_on; /* passed_on: a signal, or 0 */
    int wake[2];
} watch = {.listening = -1};

static atomic_bool ended;
static volatile uint32_t *told; /* of liveness_tells; NULL: nobody wants to know */

void liveness_tells(volatile uint32_t *to) { told = to; }

/* ---- While the run goes on: the thread ----------------------------------------------------------- */

static void tell(int fd, const word *w)
{
    if (fd >= 0 && send(fd, w, sizeof *w, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
        return; /* it is gone, too */
}

static void tell_all(const word *w)
{
    for (int k = 0; k < watch.count; k++) tell(watch.peer[k], w);
}

/* Ends this process at once: the main thread may be waiting in MPI. */
static void leave(const word *gone, bool speaks)
{
    enum { MOMENT = 200 }; /* ms, in which kernels end */
    char sentence[256];
    if (told) *told = 1;
    leftovers_remove();
    snprintf(sentence, sizeof sentence,
             "rank %d on %.60s is lost: all processes end; the file is that of the last "
             "checkpoint\n",
             gone->value, gone->host);
    if (speaks && write(STDERR_FILENO, sentence, strlen(sentence)) < 0) { /* then nobody reads it */
    }
    if (told) poll(NULL, 0, MOMENT);
    _exit(EXIT_PEER);
}

static void lose(int k)
{
    word gone = {.what = IS_GONE, .value = team_now()->rank ? 0 : k};
    memcpy(gone.host, watch.host[k], sizeof gone.host);
    close(watch.peer[k]);
    watch.peer[k] = -1;
    if (ended) return;
    if (!team_now()->rank) tell_all(&gone);
    leave(&gone, true);
}

static void hear(int k)
{
    word w;
    const ssize_t got = recv(watch.peer[k], &w, sizeof w, MSG_WAITALL);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) return;
    if (got != sizeof w) {
        lose(k);
        return;
    }
    if (w.what == IS_GONE) leave(&w, false);
    if (w.what == SIGNALLED && !stop_signal()) stop_as_if(w.value);
    if (w.what == GOOD_BYE) {
        close(watch.peer[k]);
        watch.peer[k] = -1;
    }
}

static void *look(void *unused)
{
    struct pollfd *files = checked(calloc((size_t)watch.count + 1, sizeof *files));
    (void)unused;
    while (!ended) {
        for (int k = 0; k < watch.count; k++)
            files[k] = (struct pollfd){.fd = watch.peer[k], .events = POLLIN};
        files[watch.count] = (struct pollfd){.fd = watch.wake[0], .events = POLLIN};
        poll(files, (nfds_t)watch.count + 1, 200);
        for (int k = 0; k < watch.count && !ended; k++)
            if (watch.peer[k] >= 0 && files[k].revents) hear(k);
        if (!stop_signal() || watch.passed_on) continue;
        watch.passed_on = stop_signal();
        tell_all(&(word){.what = SIGNALLED, .value = watch.passed_on});
    }
    free(files);
    return NULL;
}

/* ---- Meeting ---------------------------------------------------------------------------------------- */

static void keep_alive(int fd)
{
    const int yes = 1, idle = 2, interval = 2, probes = 3;
    const unsigned silence = 8000; /* ms */
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &yes, sizeof yes);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof idle);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval, sizeof interval);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof probes);
    setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &silence, sizeof silence);
}

/* Patience with those who come, and with those who are come to. */
static void limit_waiting(int fd, int seconds)
{
    const struct timeval limit = {.tv_sec = seconds};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
}

/* Rank 0 listens: to this host alone, if all are here. */
static int open_meeting(meeting *m)
{
    const team *t = team_now();
    const bool all_here = t->local_ranks == t->ranks;
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_addr.s_addr = htonl(all_here ? INADDR_LOOPBACK : INADDR_ANY)};
    socklen_t size = sizeof at;
    struct ifaddrs *interfaces = NULL;
    *m = (meeting){0};
    if (getrandom(&m->secret, sizeof m->secret, 0) != sizeof m->secret) return 0;
    watch.listening = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (watch.listening < 0 || bind(watch.listening, (struct sockaddr *)&at, sizeof at) ||
        listen(watch.listening, t->ranks) ||
        getsockname(watch.listening, (struct sockaddr *)&at, &size))
        return 0;
    m->port = at.sin_port;
    if (all_here) m->address[m->count++] = htonl(INADDR_LOOPBACK);
    if (all_here || getifaddrs(&interfaces)) return 1;
    for (const struct ifaddrs *i = interfaces; i && m->count < MOST_ADDRESSES; i = i->ifa_next) {
        if (!i->ifa_addr || i->ifa_addr->sa_family != AF_INET) continue;
        const uint32_t address = ((const struct sockaddr_in *)i->ifa_addr)->sin_addr.s_addr;
        if (address != htonl(INADDR_LOOPBACK)) m->address[m->count++] = address;
    }
    freeifaddrs(interfaces);
    return 1;
}

/* The others come in any order; who does not know the secret is nobody. */
static int receive_all(const meeting *m)
{
    const team *t = team_now();
    const double until = stop_clock() + 20;
    for (int left = t->ranks - 1; left;) {
        struct pollfd at = {.fd = watch.listening, .events = POLLIN};
        const double wait = until - stop_clock();
        if (wait <= 0 || poll(&at, 1, (int)(1000 * wait) + 1) <= 0) return 0;
        const int fd = accept4(watch.listening, NULL, NULL, SOCK_CLOEXEC);
        greeting who;
        if (fd < 0) continue;
        limit_waiting(fd, 2);
        const bool known = recv(fd, &who, sizeof who, MSG_WAITALL) == sizeof who &&
                           who.secret == m->secret && who.rank > 0 && who.rank < t->ranks &&
                           watch.peer[who.rank] < 0;
        if (!known) {
            close(fd);
            continue;
        }
        watch.peer[who.rank] = fd;
        memcpy(watch.host[who.rank], who.host, sizeof who.host);
        left--;
    }
    return 1;
}

static int connect_to(uint32_t address, uint16_t port)
{
    const struct sockaddr_in at = {
        .sin_family = AF_INET, .sin_addr.s_addr = address, .sin_port = port};
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) return -1;
    limit_waiting(fd, 3);
    if (!connect(fd, (const struct sockaddr *)&at, sizeof at)) return fd;
    close(fd);
    return -1;
}

static int greet(const meeting *m, const char *own_host)
{
    greeting who = {.secret = m->secret, .rank = team_now()->rank};
    snprintf(who.host, sizeof who.host, "%s", own_host);
    for (uint32_t k = 0; k < m->count && watch.peer[0] < 0; k++)
        watch.peer[0] = connect_to(m->address[k], m->port);
    return watch.peer[0] >= 0 && send(watch.peer[0], &who, sizeof who, MSG_NOSIGNAL) == sizeof who;
}

static void start(void)
{
    sigset_t all, before;
    if (pipe2(watch.wake, O_CLOEXEC)) return;
    for (int k = 0; k < watch.count; k++)
        if (watch.peer[k] >= 0) keep_alive(watch.peer[k]);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    watch.running = !pthread_create(&watch.thread, NULL, look, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

int liveness_begin(report *r)
{
    const team *t = team_now();
    struct {
        meeting m;
        char host[60];
    } first = {0};
    char host[60] = "";
    gethostname(host, sizeof host - 1);
    watch.count = t->rank ? 1 : t->ranks;
    watch.peer = checked(malloc((size_t)watch.count * sizeof *watch.peer));
    watch.host = checked(calloc((size_t)watch.count, sizeof *watch.host));
    for (int k = 0; k < watch.count; k++) watch.peer[k] = -1;
    int64_t lost = t->rank ? 0 : !open_meeting(&first.m);
    memcpy(first.host, host, sizeof host);
    int code = team_spread(0, &first, sizeof first);
    if (code) return code;
    memcpy(watch.host[0], first.host, sizeof host);
    if (!lost && first.m.count) lost = t->rank ? !greet(&first.m, host) : !receive_all(&first.m);
    lost |= !first.m.count;
    if (watch.listening >= 0) close(watch.listening);
    watch.listening = -1;
    code = team_largest(0, &lost, 1);
    if (code) return code;
    if (lost)
        report_warning(
            r, NULL, 0,
            "the processes cannot reach each other by TCP: if one is lost, the launcher has "
            "to end the others");
    else
        start();
    return 0;
}

void liveness_end(void)
{
    ended = true;
    if (watch.running) {
        tell_all(&(word){.what = GOOD_BYE});
        if (write(watch.wake[1], "", 1) < 0) ended = true; /* it looks five times a second, too */
        pthread_join(watch.thread, NULL);
        close(watch.wake[0]), close(watch.wake[1]);
    }
    for (int k = 0; k < watch.count; k++)
        if (watch.peer[k] >= 0) close(watch.peer[k]);
    free(watch.peer), free(watch.host);
    watch.peer = NULL, watch.host = NULL, watch.count = 0;
    watch.running = false;
}

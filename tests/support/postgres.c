#include "tests/support/postgres.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <grp.h>
#include <libpq-fe.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* The server is the child of a guardian, a process of our own that outlives the test program just long enough to clean
 * up: the kernel tells it when its parent dies. Orders go to it over a socket, one byte each way. */
enum { ORDER_KILL = 'k', ORDER_RESTART = 'r', ORDER_STOP = 's', REPLY_DONE = '+', REPLY_FAILED = '-' };
enum { START_TRIES = 600, TRY_MICROSECONDS = 20000 }; /* 12 s, for loaded machines */

static struct {
    char folder[96];
    char database_url[160];
    int orders; /* our end of the socket */
    pid_t guardian, owner;
} cluster = { .orders = -1 };

static _Noreturn void
give_up(const char *what)
{
    (void)fprintf(stderr, "test PostgreSQL: %s: %s\n", what, strerror(errno));
    abort();
}

/* In a child of the guardian: PostgreSQL refuses to run as root. Dies with the guardian. */
static void
become_postgres(void)
{
    const struct passwd *user = geteuid() == 0 ? getpwnam("postgres") : NULL;

    if (geteuid() == 0 && (user == NULL || initgroups("postgres", user->pw_gid) != 0 ||
                           setresgid(user->pw_gid, user->pw_gid, user->pw_gid) != 0 ||
                           setresuid(user->pw_uid, user->pw_uid, user->pw_uid) != 0))
        give_up("cannot become the user postgres");
    if (chdir("/") != 0 || prctl(PR_SET_PDEATHSIG, SIGQUIT) != 0)
        give_up("cannot prepare");
}

/* Starts a program of PostgreSQL's, its output into the log. `arguments[0]` is its name. */
static pid_t
start_program(char **arguments)
{
    pid_t child = fork();
    if (child != 0)
        return child;

    char path[256];
    glob_t found;
    int log = openat(AT_FDCWD, "log", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    sigset_t none;

    become_postgres();
    (void)snprintf(path, sizeof(path), "/usr/lib/postgresql/*/bin/%s", arguments[0]);
    if (log < 0 || dup2(log, STDOUT_FILENO) < 0 || dup2(log, STDERR_FILENO) < 0)
        give_up("cannot write its log");
    if (glob(path, 0, NULL, &found) != 0)
        give_up("is not installed");
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    arguments[0] = found.gl_pathv[found.gl_pathc - 1]; /* whole: the programs look for each other beside it */
    execv(arguments[0], arguments);
    give_up(path);
}

static bool
ended_well(pid_t child)
{
    int status;

    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static bool
init_cluster(void)
{
    char data[sizeof(cluster.folder) + 8];

    (void)snprintf(data, sizeof(data), "%s/data", cluster.folder);
    char *arguments[] = { "initdb",           "-D",        data, "-U", "postgres", "-A", "trust", "-E", "UTF8",
                          "--locale=C.UTF-8", "--no-sync", NULL };
    return ended_well(start_program(arguments));
}

/* The process of a server that accepts connections, 0 when none came up. After a kill the old server's children hold
 * its memory for a moment, and a new one ends at once: then another is tried. */
static pid_t
start_server(void)
{
    char data[sizeof(cluster.folder) + 8];

    (void)snprintf(data, sizeof(data), "%s/data", cluster.folder);
    char *arguments[] = { "postgres",          "-D", data,        "-k", cluster.folder,       "-c",
                          "listen_addresses=", "-c", "fsync=off", "-c", "max_connections=64", NULL };
    pid_t server = 0;
    for (int i = 0; i < START_TRIES; i++) {
        if (server <= 0)
            server = start_program(arguments);
        if (PQping(cluster.database_url) == PQPING_OK)
            return server;
        if (waitpid(server, NULL, WNOHANG) == server)
            server = 0;
        (void)usleep(TRY_MICROSECONDS);
    }
    return 0;
}

static void
end_server(pid_t server, int signal_number)
{
    if (server > 0) {
        (void)kill(server, signal_number);
        (void)waitpid(server, NULL, 0);
    }
}

static void
print_log(void)
{
    int log = openat(AT_FDCWD, "log", O_RDONLY | O_CLOEXEC);
    char text[4096];
    ssize_t size;

    while (log >= 0 && (size = read(log, text, sizeof(text))) > 0)
        (void)!write(STDERR_FILENO, text, (size_t)size);
}

static bool
remove_folder(void)
{
    pid_t child = fork();

    if (child == 0) {
        (void)execlp("rm", "rm", "-rf", cluster.folder, (char *)NULL);
        _exit(EXIT_FAILURE);
    }
    return ended_well(child);
}

/* One order; false when it was the last. */
static bool
obey(char order, pid_t *server)
{
    if (order == ORDER_KILL) {
        end_server(*server, SIGKILL);
        *server = 0;
    } else if (order == ORDER_RESTART) {
        end_server(*server, SIGINT); /* "fast": connections are broken, data are written */
        *server = start_server();
        if (*server == 0)
            print_log();
    }
    return order != ORDER_STOP;
}

/* The guardian's life: orders until the last one, or until the parent is gone. */
static _Noreturn void
guard(int orders)
{
    sigset_t ends;
    sigemptyset(&ends);
    sigaddset(&ends, SIGTERM);
    sigaddset(&ends, SIGINT);
    sigprocmask(SIG_BLOCK, &ends, NULL);
    struct pollfd wait_for[] = { { .fd = orders, .events = POLLIN },
                                 { .fd = signalfd(-1, &ends, SFD_CLOEXEC), .events = POLLIN } };
    (void)setsid(); /* Check kills the process groups of its tests */
    (void)prctl(PR_SET_PDEATHSIG, SIGTERM);

    char order = ORDER_RESTART;
    pid_t server = 0;
    bool more = getppid() == cluster.owner && chdir(cluster.folder) == 0 && init_cluster();
    if (!more)
        print_log();
    while (more) {
        more = obey(order, &server);
        char reply = server != 0 || order != ORDER_RESTART ? REPLY_DONE : REPLY_FAILED;
        if (more && write(orders, &reply, 1) != 1)
            break;
        if (more && (poll(wait_for, 2, -1) < 0 || wait_for[1].revents != 0 || read(orders, &order, 1) != 1))
            break;
    }
    end_server(server, SIGQUIT);
    _exit(remove_folder() ? EXIT_SUCCESS : EXIT_FAILURE);
}

static void
give_order(char order)
{
    char reply = REPLY_FAILED;

    if (write(cluster.orders, &order, 1) != 1 || read(cluster.orders, &reply, 1) != 1 || reply != REPLY_DONE)
        give_up("an order failed");
}

static void
make_folder(void)
{
    const char *temporary = getenv("TMPDIR");
    const struct passwd *user = geteuid() == 0 ? getpwnam("postgres") : NULL;

    (void)snprintf(cluster.folder, sizeof(cluster.folder), "%s/sizer-postgres-XXXXXX",
                   temporary != NULL && strlen(temporary) < 48 ? temporary : "/tmp");
    if (mkdtemp(cluster.folder) == NULL || (user != NULL && chown(cluster.folder, user->pw_uid, user->pw_gid) != 0))
        give_up("cannot make its folder");
    (void)snprintf(cluster.database_url, sizeof(cluster.database_url), "host=%s user=postgres dbname=postgres",
                   cluster.folder);
}

const char *
test_postgres_start(void)
{
    int ends[2];
    char reply = REPLY_FAILED;

    if (cluster.orders >= 0 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        give_up("cannot start twice");
    make_folder();
    cluster.owner = getpid();
    cluster.guardian = fork();
    if (cluster.guardian == 0) {
        (void)close(ends[0]);
        guard(ends[1]);
    }
    (void)close(ends[1]);
    cluster.orders = ends[0];
    if (cluster.guardian < 0 || read(cluster.orders, &reply, 1) != 1 || reply != REPLY_DONE)
        give_up("did not start");
    return cluster.database_url;
}

void
test_postgres_stop(void)
{
    char order = ORDER_STOP;

    if (write(cluster.orders, &order, 1) != 1 || waitpid(cluster.guardian, NULL, 0) != cluster.guardian)
        give_up("did not stop");
    (void)close(cluster.orders);
    cluster.orders = -1;
}

void
test_postgres_kill9(void)
{
    give_order(ORDER_KILL);
}

void
test_postgres_restart(void)
{
    give_order(ORDER_RESTART);
}

int
test_postgres_apply(const char *database_url)
{
    pid_t child = fork();
    int status;

    if (child == 0) {
        (void)setenv("DATABASE_URL", database_url, 1);
        (void)execl(PROJECT_ROOT "/migrations/apply.sh", "apply.sh", (char *)NULL);
        _exit(127);
    }
    if (child < 0 || waitpid(child, &status, 0) != child)
        give_up("cannot run apply.sh");
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

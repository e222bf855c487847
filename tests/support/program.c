/* fork, execve and a pipe for the log. */
#include "tests/support/program.h"

#include <check.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PATIENCE_MS = 10000, LOOK_MS = 10, MAX_VARIABLES = 16 };

void
program_start(struct program_run *run, const char *argument, const char *const *environment)
{
    char *arguments[] = { (char *)SIZER_PROGRAM, (char *)argument, NULL };
    int ends[2];

    memset(run, 0, sizeof *run);
    ck_assert_int_eq(pipe(ends), 0);
    run->pid = fork();
    ck_assert_int_ge(run->pid, 0);
    if (run->pid == 0) {
        dup2(ends[1], STDOUT_FILENO);
        dup2(ends[1], STDERR_FILENO);
        close(ends[0]);
        close(ends[1]);
        execve(SIZER_PROGRAM, arguments, (char *const *)environment);
        _exit(127);
    }
    close(ends[1]);
    run->log_fd = ends[0];
}

/* Reads what there is of the log; false at its end or when nothing came in time. */
static bool
read_log(struct program_run *run, int wait_ms)
{
    struct pollfd wait = { .fd = run->log_fd, .events = POLLIN };
    ssize_t got;

    if (poll(&wait, 1, wait_ms) <= 0 || run->log_size + 1 >= sizeof run->log)
        return false;
    got = read(run->log_fd, run->log + run->log_size, sizeof run->log - 1 - run->log_size);
    if (got <= 0)
        return false;
    run->log_size += (size_t)got;
    run->log[run->log_size] = '\0';
    return true;
}

/* The next whole line as JSON, NULL when none came. */
static json_t *
next_line(struct program_run *run)
{
    const char *line = run->log + run->log_read, *end;
    json_error_t error;
    json_t *parsed;

    while (!(end = strchr(line, '\n')))
        if (!read_log(run, PATIENCE_MS))
            return NULL;
    parsed = json_loadb(line, (size_t)(end - line), JSON_REJECT_DUPLICATES, &error);
    ck_assert_msg(parsed != NULL, "no JSON: %.*s", (int)(end - line), line);
    run->log_read = (size_t)(end + 1 - run->log);
    return parsed;
}

json_t *
program_event(struct program_run *run, const char *msg)
{
    json_t *line;

    while ((line = next_line(run))) {
        if (strcmp(json_string_value(json_object_get(line, "msg")), msg) == 0)
            return line;
        json_decref(line);
    }
    ck_abort_msg("no line with msg %s in:\n%s", msg, run->log);
    return NULL;
}

void
program_serve(struct program_run *run, const char *const *environment)
{
    const char *variables[MAX_VARIABLES] = { "SIZER_LISTEN=127.0.0.1:0" };
    json_t *listening;

    for (size_t i = 1; i + 1 < MAX_VARIABLES && environment && *environment; i++)
        variables[i] = *environment++;
    program_start(run, NULL, variables);
    listening = program_event(run, "listening");
    run->port = (uint16_t)json_integer_value(json_object_get(listening, "port"));
    json_decref(listening);
}

int
program_wait(struct program_run *run)
{
    const struct timespec look = { .tv_nsec = LOOK_MS * 1000000L };
    int status = 0;
    pid_t ended = 0;

    for (int waited = 0; waited < PATIENCE_MS && ended == 0; waited += LOOK_MS) {
        ended = waitpid(run->pid, &status, WNOHANG);
        if (ended == 0)
            nanosleep(&look, NULL);
    }
    if (ended == 0) {
        kill(run->pid, SIGKILL);
        waitpid(run->pid, &status, 0);
    }
    while (read_log(run, 0))
        ;
    close(run->log_fd);
    if (ended == 0)
        return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int
program_end(struct program_run *run)
{
    kill(run->pid, SIGTERM);
    return program_wait(run);
}

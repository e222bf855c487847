/* The program itself as a child process: its environment, its log, its end. */
#ifndef TESTS_SUPPORT_PROGRAM_H
#define TESTS_SUPPORT_PROGRAM_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { PROGRAM_LOG_SIZE = 65536 };

struct program_run {
    pid_t pid;
    int log_fd;
    char log[PROGRAM_LOG_SIZE]; /* all it has written so far, to standard output too, NUL-terminated */
    size_t log_size, log_read;
    uint16_t port;
};

/* Starts SIZER_PROGRAM with one argument (NULL: none) and exactly this environment ("NAME=value", ends with NULL). */
void program_start(struct program_run *run, const char *argument, const char *const *environment);

/* Starts a server on a free port and waits until it listens. `environment` is added to SIZER_LISTEN. */
void program_serve(struct program_run *run, const char *const *environment);

/* The next log line with this msg as JSON (the caller decrefs), lines before it are checked to be JSON too. Fails the
 * test when none comes within ten seconds. */
json_t *program_event(struct program_run *run, const char *msg);

/* Waits for its end and reads the rest of its log; the exit code, 128 + signal when one killed it, -1 after ten
 * seconds (it is then killed). */
int program_wait(struct program_run *run);

/* SIGTERM, then program_wait. */
int program_end(struct program_run *run);

#endif

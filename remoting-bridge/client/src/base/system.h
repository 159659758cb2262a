/* Time, threads, and lines on stderr. */
#ifndef GRAFT_SYSTEM_H
#define GRAFT_SYSTEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Nanoseconds of CLOCK_MONOTONIC. */
uint64_t graft_now(void);
/* Whether this process has memory at all of these bytes. It may still forbid to read or write them. */
bool graft_is_mapped(const void *pointer, size_t bytes);
/* One line on stderr. */
void graft_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Starts a thread of the client's own, detached and with all signals blocked. False with errno. */
bool graft_start_thread(void *(*run)(void *), void *argument);
/* Whether graft_start_thread started a thread. */
bool graft_is_own_thread(pid_t thread);
/* Stores the calling thread's id. */
void graft_note_thread(pid_t *who);

#endif

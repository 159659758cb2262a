/* Sessions as the rest of the client sees them: opening and ending, what a session can do, and reads in the background. Calls are
 * made through rpc.h. Every function is safe to call from any thread unless it says otherwise.
 *
 * A session connects the process to one server. Every object of the program's (api/objects.h) names its session; addresses and
 * device ordinals are those of the calling thread's session. Functions without a session among their parameters use that one too.
 */
#ifndef GRAFT_SESSION_H
#define GRAFT_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct graft_region;
struct graft_session;

/* The session of threads without a context. */
extern struct graft_session graft_default_session;
/* Makes a session of zeroed memory; it connects when it is first used, and is never freed. */
void graft_session_init(struct graft_session *session);
/* The calling thread's session: the one set by graft_session_use, else that of its current context, else the default session. */
struct graft_session *graft_session_current(void);
/* Sets the calling thread's session, in which contexts of other sessions are not current. NULL: its context decides again. Returns what
 * was set before. */
struct graft_session *graft_session_use(struct graft_session *session);
/* The session that was made after this one, and for NULL the first; NULL after the last. */
struct graft_session *graft_session_next(const struct graft_session *session);

/* Connects the session the first time. 0, or the CUDA error that every call returns from now on. */
int graft_session_open(struct graft_session *session);
bool graft_session_is_open(const struct graft_session *session);
/* Whether client and server map one region: then memory in it costs no transfer. */
bool graft_session_shares_memory(void);
/* That region, NULL if there is none. */
struct graft_region *graft_session_region(void);
/* Whether managed memory is to be the program's or the device's at a time (GRAFT_MANAGED). */
bool graft_managed_is_exclusive(void);
/* GRAFT_DEBUG: 1 says what is missing, 2 each call. */
int graft_debug(void);
/* Whether it is a thread of the client's own, or one of the program's within a call that others wait for. */
bool graft_thread_is_ours(pid_t thread);

/* Ends the session, and says why on stderr, once. */
void graft_die(const char *what, int error);
/* 0, or the error that every call returns since the session ended. */
int graft_dead(void);

/* Names memory that a read's bulk data may be written to; the identity goes into graftReadAsync. */
uint64_t graft_read_expect(void *to, size_t bytes);
void graft_read_forget(struct graft_session *session, uint64_t read);
/* Whether data of such a read is still to come into this memory. */
bool graft_read_pending(const void *memory, size_t bytes);
/* Returns when there is none any more. False once the session is dead. */
bool graft_reads_await(const void *memory, size_t bytes);
/* The memory of the calling thread's next call's bulk data stays as it is until the stream has come to the call. */
void graft_outgoing_stays(void);
/* Names where the data goes that the calling thread's next call that waits brings (graftRead and the like). */
void graft_incoming(void *to, size_t bytes);
/* Receives one answer for whoever it is for, or sleeps while another thread receives. False once the session is dead. */
bool graft_listen(struct graft_session *session);

/* The connection for shadow mappings (memory/shadow.c), a plain socket, which is the calling thread's until the second function is
 * called. -1 if there is none to be had. */
int graft_session_shadow_lock(void);
void graft_session_shadow_unlock(void);
/* Opens the connection for what must not wait behind the session's records. */
bool graft_callbacks_open(struct graft_session *session);
/* Tells the server on it that a host function has run. False if there is no such connection. */
bool graft_callback_done(const struct graft_session *session, uint64_t callback);

#endif

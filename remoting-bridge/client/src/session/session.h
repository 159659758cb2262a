/* Sessions as the rest of the client sees them: opening and ending, what a session can do, and reads in the background. Calls are
 * made through rpc.h. Every function is safe to call from any thread unless it says otherwise.
 *
 * A session connects the process to one server; a program that uses several servers has one for each. Every object of the program's
 * (api/objects.h) names its session, and so does every ordinal of a device. Functions without a session among their parameters use
 * the calling thread's session.
 */
#ifndef GRAFT_SESSION_H
#define GRAFT_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "transport/exchange.h"

struct graft_config;
struct graft_region;
struct graft_session;

/* Whether the program uses more than one server. Constant once cuInit has returned. */
extern bool graft_several_servers;
/* Opens the sessions with all configured servers, at the first call. 0 if one of them can be used, else the first one's error. If the
 * calling thread has chosen a session (graft_session_use), opens that one alone. */
int graft_sessions_open(void);
/* The session that the process begins with. */
extern struct graft_session graft_default_session;
/* The session of threads without a context: that, or if its server could not be reached, the next one. Atomic. */
extern struct graft_session *graft_first_session;
/* Initializes a session in zeroed memory. The session connects at its first use, and is never freed. */
void graft_session_init(struct graft_session *session);
/* The calling thread's session: the one set by graft_session_use, else that of its current context, else the default session. */
struct graft_session *graft_session_current(void);
/* Sets the calling thread's session, in which contexts of other sessions are not current. NULL: its context decides again. Returns what
 * was set before. */
struct graft_session *graft_session_use(struct graft_session *session);
/* The number of a session's server among those of the program, from 0; and the session with a server, NULL if there is none. */
int graft_session_server(const struct graft_session *session);
struct graft_session *graft_session_of_server(int server);
/* What permits the program's other servers to connect to a session, for copies (memory/peers.h). False if the session is not open. */
#define GRAFT_TICKET 104 /* u64 session, secret[32], name[64] */
bool graft_session_ticket(const struct graft_session *session, uint8_t ticket[GRAFT_TICKET]);
/* The session whose server was asked to place device memory where this address lies, NULL if there is none. */
struct graft_session *graft_session_of_range(uint64_t address);
/* Whether device memory of a session may lie at these addresses: anywhere, if its server was asked for no range. */
bool graft_session_may_place(struct graft_session *session, uint64_t base, uint64_t bytes);
/* Whether the calling thread has set its session. */
bool graft_session_is_chosen(void);
/* The session that was made after this one, and for NULL the first; NULL after the last. */
struct graft_session *graft_session_next(const struct graft_session *session);

/* Connects the session at the first call. Returns 0, or the CUDA error that every call returns from then on. */
int graft_session_open(struct graft_session *session);
bool graft_session_is_open(const struct graft_session *session);
/* Whether client and server map one region, so that memory in the region needs no transfer. */
bool graft_session_shares_memory(void);
/* That region, NULL if there is none. */
struct graft_region *graft_session_region(void);
/* The configuration of the calling thread's session. */
const struct graft_config *graft_session_config(void);
/* Whether the session's server is far away, or busy: it took long to answer the greeting. */
bool graft_session_is_far(const struct graft_session *session);
/* How many bytes a second all connections of the calling thread's session take together; 0 and negative as graft_compression_rate says. */
double graft_session_rate(void);
/* Whether managed memory is exclusive: at any time the program's or the device's (GRAFT_MANAGED). */
bool graft_managed_is_exclusive(void);
/* The value of GRAFT_DEBUG: 1 prints what is missing, 2 each call. */
int graft_debug(void);
/* Whether a thread is the client's own, or a thread of the program inside a call that other threads wait for. */
bool graft_thread_is_ours(pid_t thread);

/* Ends the session, and prints the reason on stderr, once. */
void graft_die(const char *what, int error);
/* 0, or the error that every call returns since the session ended. */
int graft_dead(void);

/* Enters a read into this memory; its identity is a parameter of graftReadAsync. 0 if there is no memory for it. */
uint64_t graft_read_expect(void *to, size_t bytes);
void graft_read_forget(struct graft_session *session, uint64_t read);
/* Whether data of a read into this memory has still to arrive. */
bool graft_read_pending(const void *memory, size_t bytes);
/* Returns when all data of reads into this memory has arrived. False once the session is dead. */
bool graft_reads_await(const void *memory, size_t bytes);
/* Announces the memory into which the calling thread's next waiting call (graftRead and the like) reads its data. */
void graft_incoming(void *to, size_t bytes);
/* Receives one answer for any thread, or sleeps while another thread receives. False once the session is dead. */
bool graft_listen(struct graft_session *session);

/* Locks the connection for shadow mappings (memory/shadow.c) for the calling thread, and opens it the first time. Its socket is -1 if it cannot be opened; the lock is held all the same. */
struct graft_wire graft_session_shadow_lock(void);
void graft_session_shadow_unlock(void);
/* Opens the connection for messages that host functions have run, since these messages must not wait behind the session's records. */
bool graft_callbacks_open(struct graft_session *session);
/* Tells the server on that connection that a host function has run. False if there is no such connection. */
bool graft_callback_done(const struct graft_session *session, uint64_t callback);

#endif

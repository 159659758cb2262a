/* The session with the server as the rest of the client sees it: opening and ending, what it can do, and reads in the background.
 * Calls are made through rpc.h. Every function is safe to call from any thread unless it says otherwise.
 */
#ifndef GRAFT_SESSION_H
#define GRAFT_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct graft_region;
struct graft_session;

/* The session that the calling thread's next call belongs to: today the process has one. Never NULL, and not open at first. */
struct graft_session *graft_session_current(void);

/* Connects the current session the first time. 0, or the CUDA error that every call returns from now on. */
int graft_session_open(void);
bool graft_session_is_open(void);
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

/* Ends the session: what it was, told once. */
void graft_die(const char *what, int error);
/* 0, or the error that every call returns since the session ended. */
int graft_dead(void);

/* Names memory that a read's bulk data may be written to; the identity goes into graftReadAsync. */
uint64_t graft_read_expect(void *to, size_t bytes);
void graft_read_forget(uint64_t read);
/* Whether data of such a read is still to come into this memory. */
bool graft_read_pending(const void *memory, size_t bytes);
/* Returns when there is none any more. False once the session is dead. */
bool graft_reads_await(const void *memory, size_t bytes);
/* The memory of the calling thread's next call's bulk data stays as it is until the stream has come to the call. */
void graft_outgoing_stays(void);
/* Names where the data goes that the calling thread's next call that waits brings (graftRead and the like). */
void graft_incoming(void *to, size_t bytes);
/* Receives one answer for whoever it is for, or sleeps while another thread receives. False once the session is dead. */
bool graft_listen(void);

/* The connection for shadow mappings (memory/shadow.c), a plain socket, which is the calling thread's until the second function is
 * called. -1 if there is none to be had. */
int graft_session_shadow_lock(void);
void graft_session_shadow_unlock(void);
/* Opens the connection for what must not wait behind the session's records. */
bool graft_callbacks_open(void);
/* Tells the server on it that a host function has run. False if there is no such connection. */
bool graft_callback_done(uint64_t callback);

#endif

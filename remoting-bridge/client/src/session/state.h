/* A session: one ordered stream of records to a server, and answers back. For the files of this folder; the rest of the client
 * sees session.h.
 *
 * Sending: calls write their records into a ring, under send_lock. Where the server takes them out of it, that is all. Where they
 * have to be sent, a thread of ours, the pump, takes and sends them, so that a call that does not wait costs no system call and
 * never meets the pump at a lock; a thread that waits does the pump's work itself while the pump sleeps.
 * Receiving: of the threads that wait, one receives for all ("reading"); the others sleep until their reply is there.
 *
 * Order of locks: open_lock, send_lock, pump_lock; receive_lock and data.lock are taken alone, or behind send_lock.
 */
#ifndef GRAFT_SESSION_STATE_H
#define GRAFT_SESSION_STATE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "api/rpc.h"
#include "base/config.h"
#include "session/data_connections.h"
#include "session/parts.h"
#include "session/reads.h"
#include "session/records.h"
#include "transport/connect.h"
#include "transport/ring.h"

/* How long a thread that has polled in vain goes on looking, giving way to others, before it sleeps: to be woken costs 0.2
 * to 0.4 ms in a virtual machine, a tenth of a copy of 256 MiB. Native CUDA polls all the time. Not where CPUs are few. */
#define GRAFT_YIELD_NANOSECONDS 10000000u
#define GRAFT_SESSION_BUFFER (2u << 20)

struct graft_waiter {
  struct graft_waiter *next;
  uint32_t slot;
  bool done; /* guarded by receive_lock, as result is */
  int result;
  const struct graft_result *results;
  int count;
  pthread_cond_t wake;
};

struct graft_session {
  struct graft_parts parts;   /* first, for graft_parts */
  struct graft_session *next; /* guarded by the list's lock when it is written; graft_session_next reads it without */

  /* ---- Opening: written under open_lock before "opened" is set, constant from then on ---- */
  pthread_mutex_t open_lock;
  bool opened; /* read without the lock, by acquire */
  int open_result;
  struct graft_config config;
  struct graft_connection connection;
  struct graft_session_key key;
  bool yields;       /* waits for answers by looking and giving way */
  bool server_takes; /* GRAFT_TRANSPORT_RINGS: nothing has to be sent */

  /* ---- Written and read atomically by any thread ---- */
  int dead;               /* 0, or the error that every call returns */
  pid_t sender, receiver; /* who is writing a record, who takes answers; kept while there are mirrors */

  /* ---- Sending: guarded by send_lock ---- */
  pthread_mutex_t send_lock;
  struct graft_ring requests;
  struct graft_bell bell; /* wakes whoever takes requests out of the ring; constant */
  uint8_t *buffer;        /* for a record that the ring has no room for at one place */
  uint32_t next_slot;
  uint64_t transfers;

  /* ---- The pump, without GRAFT_TRANSPORT_RINGS: guarded by pump_lock, which the pump holds unless it sleeps ---- */
  pthread_mutex_t pump_lock;
  struct graft_ring pump; /* the other end of requests */
  int pump_bell;          /* constant */

  /* ---- Receiving: guarded by receive_lock ---- */
  pthread_mutex_t receive_lock;
  pthread_cond_t listener_wake, arrival;
  uint64_t arrivals, noticed; /* callbacks; noticed belongs to the listener */
  bool reading;               /* a thread receives, without the lock */
  struct graft_waiter *waiters;
  uint64_t next_read;
  struct graft_reads reads;
  uint64_t chunks; /* how many there were, of reads and of announcements: changes when there is something to look at; atomic */

  /* ---- Belongs to the thread that set "reading" ---- */
  uint8_t *input;
  size_t input_at, input_end;

  /* ---- Further connections ---- */
  int callbacks; /* says that host functions have run; -1 without; written by the thread that opens it, under hostfunc.c's lock */
  pthread_mutex_t shadow_lock;
  bool shadow_tried;
  int shadow;                         /* copies shadow mappings; -1 without; guarded by shadow_lock */
  struct graft_data_connections data; /* with a lock of its own */
};

/* ---- session.c ---- */
void graft_session_die(struct graft_session *session, const char *what, int error);
static inline int graft_session_dead(const struct graft_session *session) {
  return __atomic_load_n(&session->dead, __ATOMIC_ACQUIRE);
}

/* ---- pump.c ---- */
/* A ring of our own for requests, and the thread that sends them. */
bool graft_pump_start(struct graft_session *session);
/* Sees to it that what is in the ring up to here is sent now. */
void graft_pump_push(struct graft_session *session, uint64_t end);

/* ---- send.c ---- */
/* Completes the record; called with send_lock held. Bulk data that goes apart is to be waited for. */
struct graft_transfer *graft_call_commit(struct graft_call *call, uint16_t flags);
/* The call is on its way, or will not be: gives up send_lock. */
void graft_call_let_go(const struct graft_call *call);
/* What the calling thread said about its next call is for none. Returns the error. */
int graft_call_refuse(int error);
/* Where the data goes that the calling thread's next call brings; NULL if it brings none. Asks once. */
void *graft_take_incoming(size_t *bytes);

/* ---- receive.c: called by the thread that set "reading" ---- */
/* Receives one answer and hands it to whom it is for. False once the session is dead. */
bool graft_receive_one(struct graft_session *session);

/* ---- incoming.c ---- */
/* Where a chunk of a read goes; NULL if nobody asked for it. Waits if it came on a data connection and others are to be there
 * before. Then says that it is there. */
uint8_t *graft_read_place(struct graft_session *session, uint64_t read, uint64_t offset, uint64_t bytes, bool apart);
void graft_read_arrived(struct graft_session *session, uint64_t read, uint64_t bytes);
/* An answer says that so many bytes of a read are sent: returns when they are here. False once the session is dead. */
bool graft_read_announced(struct graft_session *session, uint64_t read, uint64_t bytes);
void graft_read_drop(struct graft_session *session, uint64_t read);

/* ---- wait.c ---- */
/* Takes one answer, without the lock meanwhile. Called with receive_lock held while nobody reads. */
bool graft_read_one(struct graft_session *session);
/* Called with receive_lock held when the reading thread leaves: somebody else has to read, or to learn that it is over. */
void graft_pass_on(struct graft_session *session, const struct graft_waiter *leaving, bool ok);

#endif

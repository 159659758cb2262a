/* A session: one ordered stream of records to a server, and answers back. For the files of this folder; the rest of the client
 * sees session.h.
 *
 * Sending: calls write their records into a ring, under send_lock. On some transports the server reads the ring. On the others a
 * thread of the client, the pump, reads the ring and sends the records, so that a call that does not wait makes no system call and
 * never waits for a lock that the pump holds. While the pump sleeps, a thread that waits for an answer sends the records itself.
 * Receiving: one of the waiting threads receives for all ("reading"); the others sleep until their replies have arrived.
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
#include "base/crowd.h"
#include "session/data_connections.h"
#include "session/parts.h"
#include "session/reads.h"
#include "session/records.h"
#include "transport/connect.h"
#include "transport/ring.h"

/* How long a thread that waits for an answer polls, and yields the CPU between polls, before it sleeps. Waking a thread takes 0.2 to 0.4 ms in a virtual machine, a tenth of a copy of 256 MiB; native CUDA polls all the time. Machines with few CPUs do not poll so long. */
#define GRAFT_YIELD_NANOSECONDS 10000000u
#define GRAFT_SESSION_BUFFER (2u << 20)

struct graft_waiter {
  struct graft_waiter *next;
  uint32_t slot;
  bool done; /* as result, guarded by receive_lock */
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
  int server;  /* which of the program's servers it connects to; constant */
  bool opened; /* read without the lock, by acquire */
  int open_result;
  struct graft_config config;
  struct graft_connection connection;
  struct graft_session_key key;
  bool yields;       /* threads that wait poll and yield the CPU before they sleep */
  bool server_takes; /* GRAFT_TRANSPORT_RINGS: the server reads the ring of requests */

  /* ---- Written and read atomically by any thread ---- */
  struct graft_crowd crowd; /* whether threads that wait poll */
  int dead;                 /* 0, or the error that every call returns */
  pid_t sender, receiver;   /* the threads that write a record and receive answers; kept while there are mirrors */

  /* ---- Sending: guarded by send_lock ---- */
  pthread_mutex_t send_lock;
  struct graft_ring requests;
  struct graft_bell bell; /* wakes the reader of the ring of requests; constant */
  uint8_t *buffer;        /* for a record for which the ring has no contiguous room */
  uint32_t next_slot;
  uint64_t transfers;

  /* ---- The pump, without GRAFT_TRANSPORT_RINGS: guarded by pump_lock, which the pump holds unless it sleeps ---- */
  pthread_mutex_t pump_lock;
  struct graft_ring pump; /* the other end of requests */
  int pump_bell;          /* constant */

  /* ---- Receiving: guarded by receive_lock ---- */
  pthread_mutex_t receive_lock;
  pthread_cond_t listener_wake, arrival;
  uint64_t arrivals, noticed; /* numbers of callbacks; noticed belongs to the listener */
  bool reading;               /* a thread receives, and does not hold the lock */
  struct graft_waiter *waiters;
  uint64_t next_read;
  struct graft_reads reads;
  uint64_t chunks; /* the number of chunks and announcements of reads that have come, for threads that poll; atomic */

  /* ---- Belongs to the thread that set "reading" ---- */
  uint8_t *input;
  size_t input_at, input_end;

  /* ---- Further connections ---- */
  struct graft_connection
      callbacks; /* tells the server that host functions have run; written under the lock of the host functions */
  pthread_mutex_t shadow_lock;
  bool shadow_tried;
  struct graft_connection shadow;     /* reads and writes shadow mappings; guarded by shadow_lock */
  struct graft_data_connections data; /* guarded by its own lock */
};

/* ---- session.c ---- */
void graft_session_die(struct graft_session *session, const char *what, int error);
static inline int graft_session_dead(const struct graft_session *session) {
  return __atomic_load_n(&session->dead, __ATOMIC_ACQUIRE);
}

/* ---- pump.c ---- */
/* Makes the session's ring of requests, and starts the pump. */
bool graft_pump_start(struct graft_session *session);
/* Makes sure that the contents of the ring up to this position are sent now, by this thread or by the pump. */
void graft_pump_push(struct graft_session *session, uint64_t end);

/* ---- send.c ---- */
/* Completes and publishes the record. Called with send_lock held. If a transfer is returned, the caller waits for it. */
struct graft_transfer *graft_call_commit(struct graft_call *call, uint16_t flags);
/* Ends the call's use of the ring, whether the call was committed or not, and releases send_lock. */
void graft_call_let_go(const struct graft_call *call);
/* Drops what the calling thread has announced about its next call, since there is none. Returns the error. */
int graft_call_refuse(int error);
/* The memory that the data of the calling thread's next call is read into, NULL if there is none; forgets it. */
void *graft_take_incoming(size_t *bytes);

/* ---- receive.c: called by the thread that set "reading" ---- */
/* Receives one answer and hands it to its receiver. False once the session is dead. */
bool graft_receive_one(struct graft_session *session);

/* ---- incoming.c ---- */
/* The memory for a chunk of a read, NULL if no such read is under way. Waits if the chunk came on a data connection and must not arrive before others. graft_read_arrived says that the chunk is in memory. */
uint8_t *graft_read_place(struct graft_session *session, uint64_t read, uint64_t offset, uint64_t bytes, bool apart);
void graft_read_arrived(struct graft_session *session, uint64_t read, uint64_t bytes);
/* Takes note of an answer that announces bytes of a read, and returns when they have arrived. False once the session is dead. */
bool graft_read_announced(struct graft_session *session, uint64_t read, uint64_t bytes);
void graft_read_drop(struct graft_session *session, uint64_t read);

/* ---- wait.c ---- */
/* Receives one answer without the lock. Called with receive_lock held while no thread receives. */
bool graft_read_one(struct graft_session *session);
/* Wakes another waiting thread to receive, or all of them if the session is dead. Called with receive_lock held when the receiving thread leaves. */
void graft_pass_on(struct graft_session *session, const struct graft_waiter *leaving, bool ok);

#endif

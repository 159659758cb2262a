/* What the files on mirrors share. */
#ifndef GRAFT_MIRROR_STATE_H
#define GRAFT_MIRROR_STATE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "memory/file_part.h"
#include "memory/mirror.h"
#include "memory/pending.h"

struct graft_object;

#define GRAFT_PAGE 4096u
#define GRAFT_MIRROR_CHUNK (256u << 10)

/* Exclusive memory is the program's or the device's: its pages are taken from the program before work is sent, and a thread that touches one waits until no work is under way. */
enum graft_chunk_state {
  GRAFT_CHUNK_HERE,
  GRAFT_CHUNK_AWAY,
  GRAFT_CHUNK_EARLY /* given back while work may be under way */
};

/* Another address of the program's memory of a mirror: the program has mapped the same part of a file twice. */
struct graft_mirror_twin {
  struct graft_mirror_twin *next;
  uint8_t *host;
};

struct graft_mirror {
  struct graft_mirror *next;
  uint8_t *host;   /* the program's */
  uint64_t device; /* the device's */
  size_t bytes;
  enum graft_mirror_use use;
  bool shared;     /* the device's side is memory of this process, too */
  bool allocated;  /* device is from graft_shadow_allocate */
  uint8_t *base;   /* what both were when they were last equal */
  uint8_t *chunks; /* of exclusive memory: where each chunk is; NULL for other memory */
  uint8_t *dirty;  /* of exclusive memory: pages that are to be sent */
  bool watched;    /* whether exclusive memory was ever taken; until then the kernel provides its pages */
  struct graft_pending pending;
  struct graft_file_part file; /* what host is a mapping of, without bytes for other memory */
  struct graft_mirror_twin *twins;
};

#define GRAFT_MIRROR_CONTEXTS 64

/* A session's mirrors. */
struct graft_mirror_list {
  pthread_mutex_t lock;
  struct graft_mirror *first; /* guarded by lock for those who read, and by pages besides for those who write */
  /* The number of the program's last wait, unique in the process: since then it may have written to managed memory; guarded by lock */
  uint64_t waits;
  /* Guards chunks, bases of exclusive memory, and the list. Taken after lock; no thread waits for anything else while it holds it. */
  pthread_mutex_t pages;
  pthread_mutex_t order; /* of calls that record and await events (ordering.c); taken before lock */
  /* Work that uses mirrored memory; works and over are written with the lock held. */
  uint64_t works; /* the number of units that have been announced; atomic */
  uint64_t sent;  /* all up to this number are known to be sent; atomic */
  uint64_t over;  /* all up to this number are known to be over */
  int leaving;    /* calls that are announced and not sent yet; atomic */
  /* Contexts of the work since exclusive memory was last up to date; guarded by lock */
  struct graft_object *contexts[GRAFT_MIRROR_CONTEXTS];
  /* Threads that wait for copies that they have brought; guarded by lock. To another thread both sides are equal before these are done. */
  int bringing;
  uint64_t brought; /* how often the last of them was done */
  pthread_cond_t is_brought;
  /* Two chunks for comparisons; guarded by lock. They are kept: to grow and shrink a thread's heap each time takes as long as to copy. */
  uint8_t *ours, *theirs;
};
/* The list of the calling thread's session. */
struct graft_mirror_list *graft_mirror_list(void);
/* The number of the last work that is known to be sent: work behind it in its stream begins when it is over. */
uint64_t graft_mirrors_work(struct graft_mirror_list *list);
/* Counts a wait of the program, after which mirrors have to be compared again. Called with the lock held. */
void graft_mirror_count_wait(struct graft_mirror_list *list);

/* ---- mirror_data.c ---- */
/* The client's own stream in the current context, so that bringing and fetching wait for no other work. */
void *graft_mirror_stream(void);
/* Sends what differs from the base between two offsets. Returns whether copies are under way in that stream now. */
bool graft_mirror_bring(struct graft_mirror *m, size_t from, size_t to);
/* The same for what queued work may use. */
bool graft_mirror_bring_pending(struct graft_mirror *m);
/* The same for exclusive memory, which is taken from the program. */
bool graft_mirror_bring_exclusive(struct graft_mirror *m);
/* Fetches what work may have written; of exclusive memory, the chunks that were given back early. */
void graft_mirror_fetch(struct graft_mirror *m);
/* Fetches a chunk that was taken from the program into its base. */
void graft_mirror_refresh(struct graft_mirror *m, size_t at);
/* Exclusive memory of the list at an address; called with the lock of the list or of pages held. */
struct graft_mirror *graft_mirror_exclusive_at(const struct graft_mirror_list *list, uint64_t address);
/* Gives the program the chunk around an address, as its base has it. False if the list has no exclusive memory there. */
bool graft_mirror_return(struct graft_mirror_list *list, uint64_t address, enum graft_chunk_state how);

#endif

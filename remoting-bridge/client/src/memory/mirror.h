/* Memory of the program that the device sees in a copy of its own: managed and mapped memory where no memory is shared with
 * the server, registered memory, and host memory in graphs. What the program has changed goes to the device's copy before
 * work that may read it; what the device has changed comes back when the program has waited. */
#ifndef GRAFT_MIRROR_H
#define GRAFT_MIRROR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct graft_session;

/* When the program may write to the memory and the device has to see it. */
enum graft_mirror_use {
  GRAFT_MIRROR_MANAGED, /* while no work is under way: looked at once after each wait */
  GRAFT_MIRROR_MAPPED,  /* at any time: looked at before all work, and words of it before each wait */
  GRAFT_MIRROR_GRAPH,   /* before a graph's launch; it may be gone by then */
};

/* Memory at one address here and at the server, equal as a mirror keeps it. NULL if there is none to be had. */
void *graft_mirror_allocate(size_t bytes, enum graft_mirror_use use);
/* Exclusive memory belongs to the program or to the device at a time: a thread that touches it while work is under way waits.
 * The first function says whether the kernel allows such memory to this process, the second allocates it. */
bool graft_mirror_exclusive(void);
void *graft_mirror_allocate_exclusive(size_t bytes);
/* A variable that the server's driver has put somewhere: the same address is taken here. What begins it is known. */
int graft_mirror_adopt(uint64_t address, size_t bytes, const void *contents, size_t known);
/* The device's address of memory of the program's own. 0 if there is none to be had, or if only a part of it has a mirror that the
 * same graph uses. */
uint64_t graft_mirror_of(const void *host, size_t bytes, enum graft_mirror_use use);
/* Nodes that are added from now on are of another graph than those before. */
void graft_mirrors_instantiated(void);
/* Ends the mirror whose memory begins at that address here; false if there is none. */
bool graft_mirror_end(const void *host);

/* Whether there are mirrors in any session: the functions below are called only then. */
extern bool graft_mirrors;
/* Work of a stream, which the calling thread sends next, reads or writes mirrored memory at this address of the device's. What
 * the program has changed there is at the device when this returns. */
void graft_mirror_announce(uint64_t device, size_t bytes, bool writes, void *stream);
/* Before a request of a session is sent. If true, graft_mirrors_sent is to be called when it is sent. */
bool graft_mirrors_before(struct graft_session *session, int function);
/* The work that the calling thread has announced is sent, or will not be. */
void graft_mirrors_sent(void);
/* After a request that waited has succeeded; with its first parameter. */
void graft_mirrors_after(struct graft_session *session, int function, uint64_t first);
/* When the program has waited in another way. */
void graft_mirrors_fetch(void);
void graft_mirrors_before_host_function(void);
void graft_mirrors_after_host_function(void);

#endif

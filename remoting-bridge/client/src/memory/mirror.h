/* Mirrors: memory of the program of which the device has a copy. These are managed and mapped memory on transports that share no memory, registered memory, and host memory in graphs. What the program has changed is brought to the device's copy before work that may read it; what the device has changed is fetched when the program has waited. */
#ifndef GRAFT_MIRROR_H
#define GRAFT_MIRROR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct graft_behind;
struct graft_object;
struct graft_ordering_wait;
struct graft_pageable;
struct graft_session;

/* When the program may write to the memory so that the device has to see it. */
enum graft_mirror_use {
  GRAFT_MIRROR_MANAGED, /* while no work is under way: compared once after each wait */
  GRAFT_MIRROR_MAPPED,  /* at any time, as managed memory that is attached: compared before all work and before each wait */
  GRAFT_MIRROR_GRAPH,   /* before a graph's launch; the program may have freed it by then */
};

/* Allocates mirrored memory at one address in both processes. NULL if that fails. */
void *graft_mirror_allocate(size_t bytes, enum graft_mirror_use use);
/* The same for memory for which the shared region has no room, on transports that share memory. */
void *graft_mirror_allocate_beyond(size_t bytes, enum graft_mirror_use use);
/* Exclusive memory belongs either to the program or to the device: a thread that touches it while work is under way waits. The first function says whether the kernel allows this process such memory, the second allocates it. */
bool graft_mirror_exclusive(void);
void *graft_mirror_allocate_exclusive(size_t bytes);
/* Makes a mirror of a variable, at the address that the server's driver chose. The beginning of its contents is known. */
int graft_mirror_adopt(uint64_t address, size_t bytes, const void *contents, size_t known);
/* The device's address of the program's own memory, which gets a mirror if it has none. 0 if that fails. */
uint64_t graft_mirror_of(const void *host, size_t bytes);
/* The same for pageable memory that a graph names (pageable.h). If an address is wanted, 0 if no mirror has the memory there. */
uint64_t graft_mirror_of_pageable(const void *host, size_t bytes, uint64_t wanted);
/* Managed memory that is attached to a stream or to the program may be written to while other work is under way, so that it is compared like mapped memory. */
void graft_mirror_attach(const void *host, bool attached);
/* Another address of the memory that begins there, if the program has mapped a file twice and exposed both mappings; else NULL. */
void *graft_mirror_twin(const void *host);
/* Ends the mirror of the memory that begins at that address, unless the memory has another address; false if there is none. */
bool graft_mirror_end(const void *host);

/* Whether there are mirrors in any session: the functions below are called only then. */
extern bool graft_mirrors;
/* Announces work of a stream, which the calling thread sends next, on mirrored memory at this address of the device. When this returns, the device has what the program has changed there. */
void graft_mirror_announce(uint64_t device, size_t bytes, bool writes, void *stream);
/* Whether no queued work may write mirrored memory at this address of the device, so that the program has its bytes. */
bool graft_mirror_is_settled(uint64_t device, size_t bytes);
/* The calling thread's next launch of a kernel is in this stream, so that a wait for the stream is a wait for what the kernel may write. */
void graft_mirrors_launching(void *stream);
/* The calling thread's next launch is that of a graph which names these parts of pageable memory. */
void graft_mirrors_launching_graph(const struct graft_pageable *parts);
/* A context with queued work that may write one of these parts by another mirror, of which the program has not waited for the end. NULL if there is none. */
struct graft_object *graft_mirrors_behind(const struct graft_pageable *parts);
/* Before a request of a session is sent. If true, graft_mirrors_sent is to be called when it is sent. */
bool graft_mirrors_before(struct graft_session *session, int function);
/* Ends the announcement of the calling thread's work, which is sent, or will not be. */
void graft_mirrors_sent(void);
/* After a request that waited has succeeded; with its first parameter. */
void graft_mirrors_after(struct graft_session *session, int function, uint64_t first);
/* To be called when the program has waited in another way. */
void graft_mirrors_fetch(void);
/* What is over besides, when the calling thread's next wait has ended; NULL when it has. */
void graft_mirrors_waiting(const struct graft_behind *behind);
/* The event that the calling thread waits for, or asks about, next; NULL when that has ended. */
void graft_mirrors_waiting_for(const struct graft_ordering_wait *event);
/* Takes note that a stream is gone. */
void graft_mirrors_forget_stream(struct graft_session *session, uint64_t id);
/* Around a host function, with what is over since the stream has reached it. */
void graft_mirrors_before_host_function(const struct graft_behind *behind);
void graft_mirrors_after_host_function(void);

#endif

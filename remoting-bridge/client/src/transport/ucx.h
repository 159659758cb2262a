/* A stream of bytes each way over UCX (InfiniBand, RoCE, or what else UCX finds), beside an authenticated socket that says
 * when the peer has gone. Both ends of the channel "rdma" use this: the client, and the server as libgraft-ucx.so. libucp is
 * opened when it is first needed; a machine without it has an error that says so.
 *
 * After WELCOME each end sends a greeting and its UCX worker's address over the socket. Messages are tagged with a number
 * that the receiver chose and told over the socket alone: what a stranger sends to the worker matches none. A small message
 * is copied by UCX (eager); a large one goes from the sender's memory to where the receiver wants it (rendezvous).
 *
 * One thread at a time may send, one receive.
 */
#ifndef GRAFT_UCX_H
#define GRAFT_UCX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define GRAFT_UCX_API __attribute__((visibility("default")))

/* Up to so many bytes UCX copies on every transport that it has; more may wait until the receiver takes them. */
#define GRAFT_UCX_SURELY_EAGER 1024

struct graft_ucx;

/* The ports that UCX is to use, as rails.h has them; those that it likes if none is said. Before anything else here. */
GRAFT_UCX_API void graft_ucx_use(const char *folder, const char *ports);
/* Whether this machine has a libucp that can be used. */
GRAFT_UCX_API bool graft_ucx_present(char *reason, size_t size);
/* Lets UCX use CUDA, whose context has to be current, and says whether it can move data between the wire and that memory of the
 * GPU: its adapters by themselves, or, where "anyhow", by what UCX has for it. False with a reason: UCX then has no CUDA. For a
 * server, before anything else here but graft_ucx_use. */
GRAFT_UCX_API bool graft_ucx_use_gpu(void *memory, size_t bytes, bool anyhow, char *reason, size_t size);
/* Connects with whoever does the same at the other end of the socket, which stays the caller's. NULL with a reason. */
GRAFT_UCX_API struct graft_ucx *graft_ucx_open(int socket, char *reason, size_t size);
/* Whether large messages go over an InfiniBand or RoCE adapter. */
GRAFT_UCX_API bool graft_ucx_is_over_adapter(const struct graft_ucx *c);
/* Sends all of it. False if that cannot be any more. */
GRAFT_UCX_API bool graft_ucx_send(struct graft_ucx *c, const void *data, size_t bytes);
/* Begins to send all of it, which has to stay as it is until graft_ucx_is_over says so of the mark that this gives. */
GRAFT_UCX_API uint64_t graft_ucx_begin(struct graft_ucx *c, const void *data, size_t bytes);
GRAFT_UCX_API bool graft_ucx_is_over(const struct graft_ucx *c, uint64_t mark);
/* Goes on with what was begun, and sleeps if there is nothing to do for now. False if nothing can be sent any more: then all
 * of it is over. */
GRAFT_UCX_API bool graft_ucx_work(struct graft_ucx *c);
/* Until the bell can be read, but at most as long as UCX may have something left to send: for a thread that sends and is
 * about to sleep, as whoever receives does the same. */
GRAFT_UCX_API void graft_ucx_send_left(struct graft_ucx *c, int bell);
/* Up to this many bytes; 0 if the peer is gone, -1 with EAGAIN if there are none now, -1 with another error if it failed. */
GRAFT_UCX_API ssize_t graft_ucx_try(struct graft_ucx *c, void *to, size_t bytes);
/* Sleeps until there may be something to receive, or the peer is gone. */
GRAFT_UCX_API void graft_ucx_wait(struct graft_ucx *c);
/* Both: never -1 with EAGAIN. */
GRAFT_UCX_API ssize_t graft_ucx_receive(struct graft_ucx *c, void *to, size_t bytes);
/* Begins to receive all of it as it comes: it is there when graft_ucx_is_taken says so of the mark that this gives. Returns when
 * the last of it has begun to come; several may be on their way, while others are looked for with graft_ucx_try. -1 if it failed. */
GRAFT_UCX_API int64_t graft_ucx_take(struct graft_ucx *c, void *to, size_t bytes);
GRAFT_UCX_API bool graft_ucx_is_taken(const struct graft_ucx *c, int64_t mark);
/* Goes on with what was begun, and sleeps if there is nothing to do and nothing new for now. False if nothing can be received any
 * more. */
GRAFT_UCX_API bool graft_ucx_work_taking(struct graft_ucx *c);
/* As graft_ucx_send and graft_ucx_take, with memory of the GPU, whose context has to be current. A message is received whole: one
 * that is longer is an error. */
GRAFT_UCX_API bool graft_ucx_send_gpu(struct graft_ucx *c, const void *data, size_t bytes);
GRAFT_UCX_API int64_t graft_ucx_take_gpu(struct graft_ucx *c, void *to, size_t bytes);
/* Nobody may be in any of the others. */
GRAFT_UCX_API void graft_ucx_close(struct graft_ucx *c);

#endif

/* A stream of bytes in each direction over UCX (InfiniBand, RoCE, or another transport of UCX), beside an authenticated socket that
 * shows when the peer has closed the connection. Both ends of the channel "rdma" use this: the client, and the server as libgraft-transport.so. libucp is
 * opened when it is first needed; a machine without it has an error that says so.
 *
 * After WELCOME each end sends a greeting and its UCX worker's address over the socket. Messages are tagged with a number
 * that the receiver chose and sent only over the socket, so that messages of other senders match no tag. A small message
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

/* On every transport UCX copies messages up to this size; a larger one may wait until the receiver takes it. */
#define GRAFT_UCX_SURELY_EAGER 1024

struct graft_tls;
struct graft_ucx;

/* Sets the ports that UCX uses, as rails.h finds them; without any, UCX chooses. To be called before all other functions. */
GRAFT_UCX_API void graft_ucx_use(const char *folder, const char *ports);
/* Whether this machine has a libucp that can be used. */
GRAFT_UCX_API bool graft_ucx_present(char *reason, size_t size);
/* Lets UCX use CUDA, whose context must be current, and returns whether UCX can move data between the wire and the GPU's memory: by its adapters directly, or, with "anyhow", in any way that UCX has. False with a reason; then UCX does not use CUDA. For a server, before all other functions except graft_ucx_use. */
GRAFT_UCX_API bool graft_ucx_use_gpu(void *memory, size_t bytes, bool anyhow, char *reason, size_t size);
/* Connects with the other end of the socket, which calls the same function, over TLS unless that is NULL. Both stay the caller's; TLS is not used any more once this has returned. NULL with a reason. */
GRAFT_UCX_API struct graft_ucx *graft_ucx_open(int socket, struct graft_tls *tls, char *reason, size_t size);
/* Whether large messages go over an InfiniBand or RoCE adapter. */
GRAFT_UCX_API bool graft_ucx_is_over_adapter(const struct graft_ucx *c);
/* Sends all bytes. False if the connection is broken. */
GRAFT_UCX_API bool graft_ucx_send(struct graft_ucx *c, const void *data, size_t bytes);
/* Begins to send all bytes, which must not change until graft_ucx_is_over returns true for the mark that this sets. */
GRAFT_UCX_API uint64_t graft_ucx_begin(struct graft_ucx *c, const void *data, size_t bytes);
GRAFT_UCX_API bool graft_ucx_is_over(const struct graft_ucx *c, uint64_t mark);
/* Continues sending what was begun, and sleeps if there is nothing to do. False if the connection is broken; then everything begun is over. */
GRAFT_UCX_API bool graft_ucx_work(struct graft_ucx *c);
/* Waits until the bell can be read, but at most as long as UCX may have data left to send. For a sending thread that is about to sleep; a receiving thread lets UCX send by itself. */
GRAFT_UCX_API void graft_ucx_send_left(struct graft_ucx *c, int bell);
/* Receives up to this many bytes. 0 if the peer is gone, -1 with EAGAIN if nothing has arrived, -1 with another error if it failed. */
GRAFT_UCX_API ssize_t graft_ucx_try(struct graft_ucx *c, void *to, size_t bytes);
/* Sleeps until there may be something to receive, or the peer is gone. */
GRAFT_UCX_API void graft_ucx_wait(struct graft_ucx *c);
/* Both of them: waits, and never returns -1 with EAGAIN. */
GRAFT_UCX_API ssize_t graft_ucx_receive(struct graft_ucx *c, void *to, size_t bytes);
/* Begins to receive all bytes, which have arrived when graft_ucx_is_taken returns true for the mark that this sets. Returns when the last message has begun to arrive; several may be under way, while graft_ucx_try looks for others. -1 if it failed. */
GRAFT_UCX_API int64_t graft_ucx_take(struct graft_ucx *c, void *to, size_t bytes);
GRAFT_UCX_API bool graft_ucx_is_taken(const struct graft_ucx *c, int64_t mark);
/* Continues receiving what was begun, and sleeps if there is nothing to do and nothing new. False if the connection is broken. */
GRAFT_UCX_API bool graft_ucx_work_taking(struct graft_ucx *c);
/* Like graft_ucx_send and graft_ucx_take, for memory of the GPU, whose context must be current. A message is received whole; one that is too long is an error. */
GRAFT_UCX_API bool graft_ucx_send_gpu(struct graft_ucx *c, const void *data, size_t bytes);
GRAFT_UCX_API int64_t graft_ucx_take_gpu(struct graft_ucx *c, void *to, size_t bytes);
/* No thread may be in any other function. */
GRAFT_UCX_API void graft_ucx_close(struct graft_ucx *c);

#endif

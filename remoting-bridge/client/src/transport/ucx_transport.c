/* The transport of "rdma://": UCX, beside a socket. */
#include <sys/types.h>

#include "base/config.h"
#include "transport/transport.h"
#include "transport/ucx.h"

/* UCX itself has several messages under way, and each chunk costs a header and further waits. */
#define LARGEST_CHUNK (8u << 20)

static bool present(const struct graft_config *config, char *reason, size_t size) {
  graft_ucx_use(config->rdma_devices, config->rdma_ports);
  return graft_ucx_present(reason, size);
}

static bool open_ucx(struct graft_connection *connection, const struct graft_config *config, char *reason, size_t size) {
  (void)config;
  connection->state = graft_ucx_open(connection->fd, connection->tls, reason, size);
  return connection->state;
}

static void close_ucx(struct graft_connection *connection) {
  if (connection->state) graft_ucx_close(connection->state);
  connection->state = NULL;
}

static ssize_t try_ucx(const struct graft_connection *connection, void *to, size_t bytes) {
  return graft_ucx_try(connection->state, to, bytes);
}

static bool wait_ucx(const struct graft_connection *connection, uint64_t waited_nanoseconds) {
  (void)waited_nanoseconds;
  graft_ucx_wait(connection->state); /* if the server is gone, the next try returns so */
  return true;
}

static ssize_t send_ucx(const struct graft_connection *connection, const void *data, size_t bytes, bool more) {
  (void)more;
  return graft_ucx_send(connection->state, data, bytes) ? (ssize_t)bytes : -1;
}

static ssize_t receive_ucx(const struct graft_connection *connection, void *to, size_t bytes) {
  return graft_ucx_receive(connection->state, to, bytes);
}

static void before_sleep(const struct graft_connection *connection, int bell) { graft_ucx_send_left(connection->state, bell); }

/* Several chunks are under way at once, so that the server finds the next header while it still receives, and no end waits for the other. A failure is reported by work. */
static bool begin_ucx(const struct graft_connection *connection, const void *header, size_t header_bytes, const void *data,
                      size_t bytes, uint64_t *mark) {
  graft_ucx_begin(connection->state, header, header_bytes);
  *mark = graft_ucx_begin(connection->state, data, bytes);
  return true;
}

static bool is_over(const struct graft_connection *connection, uint64_t mark) { return graft_ucx_is_over(connection->state, mark); }

static bool work(const struct graft_connection *connection) { return graft_ucx_work(connection->state); }

const struct graft_transport graft_ucx_transport = {
    .name = "ucx",
    .number = 3,
    .capabilities = GRAFT_TRANSPORT_DATA_CONNECTIONS,
    .tries = 1,
    .sends_alone =
        GRAFT_UCX_SURELY_EAGER, /* a larger message may hold up the sender until the server takes it, which may itself wait for the client */
    .largest_chunk = LARGEST_CHUNK,
    .chunks_per_connection = 1,
    .least_connections = 2, /* while one waits for the server to say where its next message goes, another sends */
    .present = present,
    .open = open_ucx,
    .close = close_ucx,
    .try = try_ucx,
    .wait = wait_ucx,
    .send = send_ucx,
    .receive = receive_ucx,
    .before_sleep = before_sleep,
    .begin = begin_ucx,
    .is_over = is_over,
    .work = work,
};

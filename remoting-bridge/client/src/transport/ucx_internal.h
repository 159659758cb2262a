/* Shared by the files that use UCX. */
#ifndef GRAFT_UCX_INTERNAL_H
#define GRAFT_UCX_INTERNAL_H

#include <net/if.h>
#include <pthread.h>
#include <time.h>

#include <ucp/api/ucp.h>

#include "transport/exchange.h"
#include "transport/ucx.h"

#define GRAFT_UCX_MESSAGE (1u << 20) /* bytes of a message */
#define GRAFT_UCX_WINDOW 8           /* large messages at once */

/* ---- libucp (ucx_library.c) ---- */

#define GRAFT_UCX_FUNCTIONS(F)  \
  F(ucp_get_version)            \
  F(ucp_config_read)            \
  F(ucp_config_modify)          \
  F(ucp_config_release)         \
  F(ucp_init_version)           \
  F(ucp_cleanup)                \
  F(ucp_context_query)          \
  F(ucp_mem_map)                \
  F(ucp_mem_unmap)              \
  F(ucp_rkey_pack)              \
  F(ucp_rkey_buffer_release)    \
  F(ucp_worker_create)          \
  F(ucp_worker_destroy)         \
  F(ucp_worker_get_address)     \
  F(ucp_worker_release_address) \
  F(ucp_worker_get_efd)         \
  F(ucp_worker_arm)             \
  F(ucp_worker_progress)        \
  F(ucp_ep_create)              \
  F(ucp_ep_print_info)          \
  F(ucp_ep_close_nbx)           \
  F(ucp_tag_send_nbx)           \
  F(ucp_tag_probe_nb)           \
  F(ucp_tag_msg_recv_nbx)       \
  F(ucp_request_check_status)   \
  F(ucp_request_cancel)         \
  F(ucp_request_free)

struct graft_ucx_library {
  pthread_mutex_t lock;
  bool is_loaded;        /* the functions below are there */
  ucp_context_h context; /* the newest one */
  unsigned major, minor;
  char folder[256], ports[1024]; /* the folder in which ports are found, and the ports that are to be used; "" for all */
  char interface[IF_NAMESIZE];   /* of the sockets whose connections use the context; "" for sockets that have none */
  char devices[4096];            /* the names for UCX of the devices that the context uses; "" lets UCX choose */
  bool cuda;                     /* UCX may use CUDA */
  const char *(*status_string)(ucs_status_t);
#define GRAFT_UCX_POINTER(name) __typeof__(name) *name;
  GRAFT_UCX_FUNCTIONS(GRAFT_UCX_POINTER)
};

extern struct graft_ucx_library ucx;

/* The context for a connection beside this socket, once UCX is loaded. It is the newest one, unless the caller names that one ("but") as one whose devices have gone, or it
 * is for another interface. In those cases a new context is made, of the devices that the machine has now; the old one stays, since others may use it. NULL with a reason. */
ucp_context_h graft_ucx_context(int socket, ucp_context_h but, char *reason, size_t size);
/* Writes a reason unless the status is UCS_OK. */
bool graft_ucx_failed(ucs_status_t status, const char *what, char *reason, size_t size);

/* ---- Connections ---- */

/* Several messages under way, since each large one takes a round trip before its data is sent. */
struct graft_ucx_flight {
  ucs_status_ptr_t requests[GRAFT_UCX_WINDOW];
  unsigned first, count;
  uint64_t begun; /* the number of messages so far */
  uint64_t since; /* when UCX last had something to do */
};

/* One direction of a connection: a worker that no other thread uses. */
struct graft_ucx_side {
  ucp_worker_h worker;
  int events;
  uint64_t looks; /* how long to poll while a message is under way */
  bool slept;     /* since UCX last had something to do */
};

struct graft_ucx {
  struct graft_wire wire; /* its TLS is used only while the two ends agree */
  struct graft_ucx_side out, in;
  pthread_mutex_t sending;        /* guards out.worker */
  struct graft_ucx_flight flight; /* messages that were begun, and are not over */
  bool keeps;                     /* over TCP, where UCX may keep data that it has reported as sent */
  uint64_t left_until;            /* the time until which it may keep data */
  ucp_ep_h peer;
  uint64_t tag_out, tag_in;
  ucs_status_t broken;    /* UCX's error when it lost the peer */
  uint64_t looks;         /* the longest time to poll while a message is under way */
  bool together;          /* each end has received a message of the other */
  bool gone;              /* the socket is closed; data sent before is still received */
  ucp_tag_message_h next; /* a message that has arrived, and its length */
  size_t next_bytes;
  struct graft_ucx_flight taking; /* messages that graft_ucx_take receives */
  unsigned taken_at_once;
  uint64_t quiet_since; /* the time since which nothing has arrived; 0 if not known */
  uint8_t *rest;        /* a message longer than what was asked for */
  size_t rest_at, rest_end;
};

static inline uint64_t graft_ucx_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

extern const ucp_request_param_t graft_ucx_host_memory, graft_ucx_gpu_memory;

/* Waits until UCX has completed the request. False if the connection is broken. */
bool graft_ucx_finish(struct graft_ucx *c, struct graft_ucx_side *side, ucs_status_ptr_t request);

#endif

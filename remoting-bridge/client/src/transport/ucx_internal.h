/* What the files of UCX's code share. */
#ifndef GRAFT_UCX_INTERNAL_H
#define GRAFT_UCX_INTERNAL_H

#include <pthread.h>
#include <time.h>

#include <ucp/api/ucp.h>

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
  ucp_context_h context;
  unsigned major, minor;
  char folder[256], ports[1024]; /* where ports are looked for, and which; "" as UCX likes */
  char devices[512];             /* what was found */
  bool cuda;                     /* UCX may use CUDA */
  const char *(*status_string)(ucs_status_t);
#define GRAFT_UCX_POINTER(name) __typeof__(name) *name;
  GRAFT_UCX_FUNCTIONS(GRAFT_UCX_POINTER)
};

extern struct graft_ucx_library ucx;

/* Writes a reason unless the status is UCS_OK. */
bool graft_ucx_failed(ucs_status_t status, const char *what, char *reason, size_t size);

/* ---- Connections ---- */

/* Several messages at once, since each large one takes the two ends a word to and fro before its data flows. */
struct graft_ucx_flight {
  ucs_status_ptr_t requests[GRAFT_UCX_WINDOW];
  unsigned first, count;
  uint64_t begun; /* how many there have been */
  uint64_t since; /* when UCX last had something to do */
};

/* What one direction needs: a worker that no other thread uses. */
struct graft_ucx_side {
  ucp_worker_h worker;
  int events;
  uint64_t looks; /* how long is looked while something is on its way */
  bool slept;     /* since UCX last had something to do */
};

struct graft_ucx {
  int socket;
  struct graft_ucx_side out, in;
  pthread_mutex_t sending;        /* what uses out.worker */
  struct graft_ucx_flight flight; /* what was begun, and is not over */
  bool keeps;                     /* over TCP, where UCX may have much left of what it said to have sent */
  uint64_t left_until;            /* until then it may */
  ucp_ep_h peer;
  uint64_t tag_out, tag_in;
  ucs_status_t broken;    /* what UCX said when it lost the peer */
  uint64_t looks;         /* how long is looked at most while something is on its way */
  bool together;          /* each end has had a message of the other's */
  bool gone;              /* the socket says so; what had been sent before still counts */
  ucp_tag_message_h next; /* a message that has come, and its length */
  size_t next_bytes;
  struct graft_ucx_flight taking; /* what is being received by graft_ucx_take */
  unsigned taken_at_once;
  uint64_t quiet_since; /* since when there has been nothing to receive; 0 if not known */
  uint8_t *rest;        /* a message longer than what was asked for */
  size_t rest_at, rest_end;
};

static inline uint64_t graft_ucx_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

extern const ucp_request_param_t graft_ucx_host_memory, graft_ucx_gpu_memory;

/* Waits until UCX has done it. False if the connection is broken. */
bool graft_ucx_finish(struct graft_ucx *c, struct graft_ucx_side *side, ucs_status_ptr_t request);

#endif

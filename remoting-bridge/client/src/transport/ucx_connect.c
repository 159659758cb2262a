/* Connects two ends over UCX. Over the authenticated socket each end sends its version and its worker's address. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/capability.h>

#include "transport/exchange.h"
#include "transport/ucx_internal.h"

#define MAGIC 0x58555247u /* "GRUX" */
#define VERSION 1
#define TAKEN_AT_ONCE 4          /* the same, received; more gave no more throughput over soft RoCE */
#define MOST_CONTEXTS 5          /* that are made in place of one whose devices have gone */
#define MOST_ADDRESS (16u << 10) /* of a worker's address, which grows with each device */
#define LOOKS_NANOSECONDS 50000u /* how long a thread polls before it sleeps */
/* The same while a message is under way, on machines with more than one CPU: sleeping within each message costs as much time as a fifth of a MiB takes over soft RoCE. */
#define FLIGHT_NANOSECONDS 1000000u
#define CLOSE_NANOSECONDS 1000000000u
#define ENOUGH_LOCKED (256u << 20)
#define LEAST_LOCKED (64u << 20) /* each worker locks 20 MiB on rxe */

struct greeting {
  uint32_t magic, version;
  uint32_t status, bytes; /* of the address that follows */
  uint32_t major, minor;  /* of UCX */
  uint64_t tag;
  char message[224];
};
_Static_assert(sizeof(struct greeting) == 256, "the greeting has a fixed size");

/* How much memory this process may lock, since an adapter can use only locked memory. */
static uint64_t lockable(void) {
  struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
  struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];
  struct rlimit locked;
  if (getrlimit(RLIMIT_MEMLOCK, &locked)) return UINT64_MAX;
  bool any = !syscall(SYS_capget, &header, data) && data[0].effective & 1u << CAP_IPC_LOCK;
  return any ? UINT64_MAX : locked.rlim_cur;
}

static void add_limit(char *reason, size_t size) {
  size_t used = strlen(reason);
  if (lockable() >= ENOUGH_LOCKED) return;
  snprintf(reason + used, size - used,
           "; over InfiniBand it wants more than the %llu KiB of memory that may be locked: ulimit -l unlimited",
           (unsigned long long)lockable() >> 10);
}

/* If too little memory may be locked, UCX (1.13) connects and never receives, or tries for ever to get buffers. */
static bool may_lock(char *reason, size_t size) {
  DIR *adapters = opendir("/sys/class/infiniband");
  bool any = false;
  for (struct dirent *e; adapters && !any && (e = readdir(adapters));) any = e->d_name[0] != '.';
  if (adapters) closedir(adapters);
  if (!any || lockable() >= LEAST_LOCKED) return true;
  snprintf(reason, size, "UCX cannot register memory with this machine's adapters");
  add_limit(reason, size);
  return false;
}

/* A worker opens all devices that its context has found. If one of them is gone, as the interface of a guest that has ended, a new context finds the others. */
static bool create_worker(int socket, ucp_worker_h *worker, char *reason, size_t size) {
  ucp_worker_params_t params = {.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE, .thread_mode = UCS_THREAD_MODE_SERIALIZED};
  ucp_context_h context = NULL;
  ucs_status_t status = UCS_ERR_NO_DEVICE;
  for (int tries = 0; status == UCS_ERR_NO_DEVICE && tries <= MOST_CONTEXTS; tries++) {
    context = graft_ucx_context(socket, context, reason, size);
    if (!context) return false;
    status = ucx.ucp_worker_create(context, &params, worker);
  }
  return !graft_ucx_failed(status, "open a device", reason, size);
}

static bool open_side(struct graft_ucx *c, struct graft_ucx_side *side, char *reason, size_t size) {
  bool open =
      create_worker(c->wire.fd, &side->worker, reason, size) &&
      !graft_ucx_failed(ucx.ucp_worker_get_efd(side->worker, &side->events), "wait for events of its devices", reason, size);
  if (!open) add_limit(reason, size);
  return open;
}

static void lost(void *connection, ucp_ep_h peer, ucs_status_t status) {
  (void)peer;
  ((struct graft_ucx *)connection)->broken = status;
}

static bool connect_to(struct graft_ucx *c, const void *address, char *reason, size_t size) {
  ucp_ep_params_t params = {
      .field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE | UCP_EP_PARAM_FIELD_ERR_HANDLER,
      .address = address,
      .err_mode = UCP_ERR_HANDLING_MODE_PEER,
      .err_handler = {.cb = lost, .arg = c}};
  ucs_status_t status = ucx.ucp_ep_create(c->out.worker, &params, &c->peer);
  if (status == UCS_ERR_UNREACHABLE) { /* shared memory alone supports no error handling */
    params.err_mode = UCP_ERR_HANDLING_MODE_NONE;
    status = ucx.ucp_ep_create(c->out.worker, &params, &c->peer);
  }
  return !graft_ucx_failed(status, "reach the other end's devices", reason, size);
}

/* Only UCX's text output says which transport a connection uses: "lane[0]:  1:tcp/lo.0 ...". */
static bool goes_over(ucp_ep_h peer, const char *transport, bool if_unknown) {
  char *text = NULL;
  size_t size;
  FILE *file = open_memstream(&text, &size);
  if (!file) return if_unknown;
  ucx.ucp_ep_print_info(peer, file);
  bool over = fclose(file) || !strstr(text, "lane[") ? if_unknown : strstr(text, transport) != NULL;
  free(text);
  return over;
}

bool graft_ucx_is_over_adapter(const struct graft_ucx *c) {
  return goes_over(c->peer, ":rc_", false) || goes_over(c->peer, ":dc_", false);
}

/* The first message of each end makes UCX's connections, for which both workers of both ends must make progress; later a sending thread needs no help. Then each end sends a byte over the socket to say that it has received the message. */
static bool try_out(struct graft_ucx *c, char *reason, size_t size) {
  char mark = 0, said;
  bool told = false, heard = false, arrived = false;
  ucp_tag_recv_info_t info;
  ucs_status_ptr_t sent = ucx.ucp_tag_send_nbx(c->peer, &mark, sizeof mark, c->tag_out, &graft_ucx_host_memory);
  if (UCS_PTR_IS_ERR(sent)) c->broken = UCS_PTR_STATUS(sent);
  uint64_t since = graft_ucx_now();
  while (!(told && heard) && !c->broken && graft_ucx_now() - since < GRAFT_HANDSHAKE_MILLISECONDS * 1000000ull) {
    ucx.ucp_worker_progress(c->out.worker);
    ucx.ucp_worker_progress(c->in.worker);
    ucp_tag_message_h message = arrived ? NULL : ucx.ucp_tag_probe_nb(c->in.worker, c->tag_in, UINT64_MAX, 1, &info);
    if (message)
      arrived = info.length == 1 &&
                graft_ucx_finish(c, &c->in, ucx.ucp_tag_msg_recv_nbx(c->in.worker, &said, 1, message, &graft_ucx_host_memory));
    bool done = arrived && (!sent || ucx.ucp_request_check_status(sent) == UCS_OK);
    if (done && !told) told = graft_exchange(c->wire, &mark, 1, NULL, 0);
    if (!heard) {
      ssize_t n = graft_wire_try(c->wire, &said, 1);
      heard = n == 1;
      if (!heard && (!n || (errno != EAGAIN && errno != EINTR))) c->broken = UCS_ERR_CONNECTION_RESET;
    }
  }
  if (UCS_PTR_IS_PTR(sent)) ucx.ucp_request_free(sent);
  c->together = told && heard;
  c->keeps = c->together && goes_over(c->peer, ":tcp/", true);
  /* In shared memory UCX copies within its calls, so several messages at once only delay each other. */
  c->taken_at_once = c->keeps || graft_ucx_is_over_adapter(c) ? TAKEN_AT_ONCE : 1;
  if (c->together) return true;
  graft_ucx_failed(c->broken ? c->broken : UCS_ERR_TIMED_OUT, "reach the other end", reason, size);
  add_limit(reason, size);
  return false;
}

/* Tells the peer why there is no connection, and reads what it sends meanwhile, since closing a socket with unread data would discard the reason. */
static void refuse(struct graft_wire socket, const char *reason) {
  struct greeting theirs, ours = {.magic = MAGIC, .version = VERSION, .status = 1};
  char address[MOST_ADDRESS];
  snprintf(ours.message, sizeof ours.message, "%s", reason);
  if (!graft_exchange(socket, &ours, sizeof ours, &theirs, sizeof theirs)) return;
  if (!theirs.status && theirs.bytes <= sizeof address) graft_exchange(socket, NULL, 0, address, theirs.bytes);
}

static bool check(struct greeting *theirs, char *reason, size_t size) {
  if (theirs->magic != MAGIC || theirs->version != VERSION) {
    snprintf(reason, size, "the other end does not speak rdma");
  } else if (theirs->status) {
    theirs->message[sizeof theirs->message - 1] = 0;
    for (char *p = theirs->message; *p; p++) {
      if ((unsigned char)*p < 32) *p = ' ';
    }
    snprintf(reason, size, "the other end refuses rdma: %s", theirs->message);
  } else if (theirs->major != ucx.major || theirs->minor != ucx.minor) {
    /* UCX promises no common wire format between its versions. */
    snprintf(reason, size, "UCX is version %u.%u here and %u.%u at the other end: rdma needs the same", ucx.major, ucx.minor,
             theirs->major, theirs->minor);
  } else if (!theirs->bytes || theirs->bytes > MOST_ADDRESS) {
    snprintf(reason, size, "the other end has an rdma address of %u bytes, which cannot be", theirs->bytes);
  } else {
    return true;
  }
  return false;
}

static bool agree(struct graft_ucx *c, const void *address, size_t bytes, char *reason, size_t size) {
  struct greeting theirs,
      ours = {
          .magic = MAGIC, .version = VERSION, .bytes = (uint32_t)bytes, .major = ucx.major, .minor = ucx.minor, .tag = c->tag_in};
  bool told = graft_exchange(c->wire, &ours, sizeof ours, NULL, 0) && graft_exchange(c->wire, address, bytes, NULL, 0);
  if (!told || !graft_exchange(c->wire, NULL, 0, &theirs, sizeof theirs)) {
    snprintf(reason, size, "the other end does not agree on rdma: %s", strerror(errno));
    return false;
  }
  if (!check(&theirs, reason, size)) return false;
  c->tag_out = theirs.tag;
  char *there = malloc(theirs.bytes);
  bool got = there && graft_exchange(c->wire, NULL, 0, there, theirs.bytes);
  if (!got) snprintf(reason, size, "the other end's rdma address does not come: %s", strerror(errno));
  bool connected = got && connect_to(c, there, reason, size);
  free(there);
  return connected && try_out(c, reason, size);
}

static bool connect_ends(struct graft_ucx *c, char *reason, size_t size) {
  ucp_address_t *address;
  size_t bytes;
  c->rest = malloc(GRAFT_UCX_MESSAGE);
  if (!c->rest || getrandom(&c->tag_in, sizeof c->tag_in, 0) != (ssize_t)sizeof c->tag_in) {
    snprintf(reason, size, "no memory or no random numbers for rdma");
    return false;
  }
  if (!may_lock(reason, size) || !open_side(c, &c->out, reason, size) || !open_side(c, &c->in, reason, size) ||
      graft_ucx_failed(ucx.ucp_worker_get_address(c->in.worker, &address, &bytes), "say where its devices are", reason, size)) {
    refuse(c->wire, reason);
    return false;
  }
  bool agreed = agree(c, address, bytes, reason, size);
  ucx.ucp_worker_release_address(c->in.worker, address);
  return agreed;
}

struct graft_ucx *graft_ucx_open(int socket, struct graft_tls *tls, char *reason, size_t size) {
  if (!graft_ucx_present(reason, size)) {
    refuse((struct graft_wire){socket, tls}, reason);
    return NULL;
  }
  struct graft_ucx *c = calloc(1, sizeof *c);
  if (!c) {
    snprintf(reason, size, "no memory for rdma");
    return NULL;
  }
  c->wire = (struct graft_wire){socket, tls};
  c->looks = sysconf(_SC_NPROCESSORS_ONLN) > 1 ? FLIGHT_NANOSECONDS : LOOKS_NANOSECONDS;
  c->out.looks = c->in.looks = c->looks;
  pthread_mutex_init(&c->sending, NULL);
  if (connect_ends(c, reason, size)) return c;
  graft_ucx_close(c);
  return NULL;
}

void graft_ucx_close(struct graft_ucx *c) {
  /* UCX (1.13) aborts the process if a connection over InfiniBand is destroyed while it is being made, alone or with its worker. So this one stays until the process ends. */
  if (c->peer && !c->together) return;
  if (c->peer) {
    ucp_request_param_t force = {.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS, .flags = UCP_EP_CLOSE_FLAG_FORCE};
    ucs_status_ptr_t request = ucx.ucp_ep_close_nbx(c->peer, &force);
    uint64_t since = graft_ucx_now();
    while (UCS_PTR_IS_PTR(request) && ucx.ucp_request_check_status(request) == UCS_INPROGRESS &&
           graft_ucx_now() - since < CLOSE_NANOSECONDS) {
      ucx.ucp_worker_progress(c->out.worker);
    }
    if (UCS_PTR_IS_PTR(request)) ucx.ucp_request_free(request);
  }
  if (c->out.worker) ucx.ucp_worker_destroy(c->out.worker);
  if (c->in.worker) ucx.ucp_worker_destroy(c->in.worker);
  free(c->rest);
  free(c);
}

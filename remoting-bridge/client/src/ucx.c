#include "ucx.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <linux/capability.h>

#include <ucp/api/ucp.h>

#include "exchange.h"
#include "rails.h"

#define MAGIC 0x58555247u /* "GRUX" */
#define VERSION 1
#define MOST (1u << 20) /* bytes of a message */
#define WINDOW 8        /* large messages at once */
#define TAKEN_AT_ONCE 4 /* the same, received: more carried no more over soft RoCE */
/* From so many bytes on a message goes straight to where it belongs. UCX's own limit, which it estimates, was above 256 KiB
 * on soft RoCE, where what it copied went at a tenth of the speed. */
#define RENDEZVOUS "32k"
#define MOST_ADDRESS (16u << 10) /* of a worker's address: each device adds to it */
#define LOOKS_NANOSECONDS 50000u /* how long is looked before it is waited */
/* The same while something is on its way, where more than one CPU is there: to sleep within each message costs what a fifth of
 * a MiB takes on soft RoCE. */
#define FLIGHT_NANOSECONDS 1000000u
#define LEAST_MILLISECONDS 10    /* asleep, at first and at last */
#define MOST_MILLISECONDS 1000
#define CLOSE_NANOSECONDS 1000000000u
#define LEFT_NANOSECONDS 10000000000u
#define LEFT_MILLISECONDS 5
#define ENOUGH_LOCKED (256u << 20)
#define LEAST_LOCKED (64u << 20) /* each worker takes 20 MiB at once on rxe */

/* ---- libucp ---- */

#define FUNCTIONS(F)                                                                                                             \
  F(ucp_get_version)                                                                                                             \
  F(ucp_config_read)                                                                                                             \
  F(ucp_config_modify)                                                                                                           \
  F(ucp_config_release)                                                                                                          \
  F(ucp_init_version)                                                                                                            \
  F(ucp_cleanup)                                                                                                                 \
  F(ucp_context_query)                                                                                                           \
  F(ucp_mem_map)                                                                                                                 \
  F(ucp_mem_unmap)                                                                                                               \
  F(ucp_rkey_pack)                                                                                                               \
  F(ucp_rkey_buffer_release)                                                                                                     \
  F(ucp_worker_create)                                                                                                           \
  F(ucp_worker_destroy)                                                                                                          \
  F(ucp_worker_get_address)                                                                                                      \
  F(ucp_worker_release_address)                                                                                                  \
  F(ucp_worker_get_efd)                                                                                                          \
  F(ucp_worker_arm)                                                                                                              \
  F(ucp_worker_progress)                                                                                                         \
  F(ucp_ep_create)                                                                                                               \
  F(ucp_ep_print_info)                                                                                                           \
  F(ucp_ep_close_nbx)                                                                                                            \
  F(ucp_tag_send_nbx)                                                                                                            \
  F(ucp_tag_probe_nb)                                                                                                            \
  F(ucp_tag_msg_recv_nbx)                                                                                                        \
  F(ucp_request_check_status)                                                                                                    \
  F(ucp_request_cancel)                                                                                                          \
  F(ucp_request_free)

static struct {
  pthread_mutex_t lock;
  ucp_context_h context;
  unsigned major, minor;
  char folder[256], ports[1024]; /* where ports are looked for, and which; "" as UCX likes */
  char devices[512];             /* what was found */
  bool cuda;                     /* UCX may use CUDA */
  const char *(*status_string)(ucs_status_t);
#define POINTER(name) __typeof__(name) *name;
  FUNCTIONS(POINTER)
} u = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool failed(ucs_status_t status, const char *what, char *reason, size_t size) {
  if (status == UCS_OK) return false;
  snprintf(reason, size, "UCX cannot %s: %s", what, u.status_string(status));
  return true;
}

/* UCX reads its settings as it is loaded. It would take the signals that Java works with, and programs too, and write to the
 * program's output what comes here as an error. Its part for CUDA asks the driver as soon as it is there: in a client that is
 * us, within our own connecting. */
static void *open_library(void) {
  static const char *const settings[][2] = {{"UCX_ERROR_SIGNALS", ""}, {"UCX_LOG_LEVEL", "fatal"}, {"UCX_MODULES", "^cuda,rocm"}};
  bool ours[3];
  int count = u.cuda ? 2 : 3;
  for (int i = 0; i < count; i++) ours[i] = !getenv(settings[i][0]) && !setenv(settings[i][0], settings[i][1], 0);
  void *library = dlopen("libucp.so.0", RTLD_NOW | RTLD_LOCAL);
  for (int i = 0; i < count; i++) {
    if (ours[i]) unsetenv(settings[i][0]);
  }
  return library;
}

static bool load(char *reason, size_t size) {
  void *library = open_library();
  if (!library) {
    snprintf(reason, size, "rdma needs UCX's library (Debian: libucx0): %s", dlerror());
    return false;
  }
  const char *missing = NULL;
#define FIND(name)                                            \
  if (!(u.name = (__typeof__(name) *)dlsym(library, #name))) { \
    missing = #name;                                          \
  }
  FUNCTIONS(FIND)
  u.status_string = (const char *(*)(ucs_status_t))dlsym(library, "ucs_status_string");
  if (!missing && u.status_string) return true;
  snprintf(reason, size, "rdma needs UCX 1.10 or later: its library here has no %s", missing ? missing : "ucs_status_string");
  dlclose(library);
  return false;
}

/* UCX's own setting goes first. */
static bool find_ports(char *reason, size_t size) {
  u.devices[0] = 0;
  return getenv("UCX_NET_DEVICES") || graft_rails(u.folder, u.ports, u.devices, sizeof u.devices, reason, size);
}

/* What UCX has, or of that only those transports. */
static bool make_context(const char *transports, ucp_context_h *context, char *reason, size_t size) {
  ucp_config_t *config;
  ucp_params_t params = {.field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_MT_WORKERS_SHARED,
                         .features = transports ? UCP_FEATURE_RMA : UCP_FEATURE_TAG | UCP_FEATURE_WAKEUP,
                         .mt_workers_shared = 1};
  if (failed(u.ucp_config_read(NULL, NULL, &config), "read its settings", reason, size)) return false;
  if (transports || !getenv("UCX_TLS")) u.ucp_config_modify(config, "TLS", transports ? transports : u.cuda ? "^rocm" : "^cuda,rocm");
  if (!getenv("UCX_RNDV_THRESH")) u.ucp_config_modify(config, "RNDV_THRESH", RENDEZVOUS);
  if (u.devices[0]) u.ucp_config_modify(config, "NET_DEVICES", u.devices);
  ucs_status_t status = u.ucp_init_version(UCP_API_MAJOR, UCP_API_MINOR, &params, config, context);
  u.ucp_config_release(config);
  return !failed(status, "start", reason, size);
}

static bool start(char *reason, size_t size) {
  unsigned release;
  u.ucp_get_version(&u.major, &u.minor, &release);
  return make_context(NULL, &u.context, reason, size);
}

void graft_ucx_use(const char *folder, const char *ports) {
  pthread_mutex_lock(&u.lock);
  snprintf(u.folder, sizeof u.folder, "%s", folder);
  snprintf(u.ports, sizeof u.ports, "%s", ports);
  pthread_mutex_unlock(&u.lock);
}

bool graft_ucx_present(char *reason, size_t size) {
  pthread_mutex_lock(&u.lock);
  bool present = u.context || (find_ports(reason, size) && load(reason, size) && start(reason, size));
  pthread_mutex_unlock(&u.lock);
  return present;
}

/* ---- The GPU's memory ---- */

static bool knows_cuda(ucp_context_h context) {
  ucp_context_attr_t attributes = {.field_mask = UCP_ATTR_FIELD_MEMORY_TYPES};
  return u.ucp_context_query(context, &attributes) == UCS_OK && attributes.memory_types & 1ull << UCS_MEMORY_TYPE_CUDA;
}

static bool has_cuda(char *reason, size_t size) {
  ucp_context_h context;
  bool known = make_context("cuda_copy", &context, reason, size);
  if (known) {
    known = knows_cuda(context);
    u.ucp_cleanup(context);
  }
  if (!known) snprintf(reason, size, "UCX %u.%u here is built without CUDA, or finds no GPU", u.major, u.minor);
  return known;
}

/* The bytes by which others reach memory: more, the more adapters have it. 0 if that cannot be. */
static size_t key_bytes(ucp_context_h context, void *memory, size_t bytes, ucs_memory_type_t type) {
  ucp_mem_map_params_t params = {
      .field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH | UCP_MEM_MAP_PARAM_FIELD_MEMORY_TYPE,
      .address = memory,
      .length = bytes,
      .memory_type = type};
  ucp_mem_h mapped;
  void *key;
  size_t length = 0;
  if (u.ucp_mem_map(context, &params, &mapped) != UCS_OK) return 0;
  if (u.ucp_rkey_pack(context, mapped, &key, &length) == UCS_OK) {
    u.ucp_rkey_buffer_release(key);
  } else {
    length = 0;
  }
  u.ucp_mem_unmap(context, mapped);
  return length;
}

/* UCX says nowhere whether its adapters reach the GPU (by nvidia_peermem, or, since 1.14, by dma-buf, for which it needs
 * cuda_copy), and maps memory that none of them takes: so the key is compared with that of memory that they all take. */
static bool adapters_reach(void *memory, size_t bytes, char *reason, size_t size) {
  ucp_context_h context;
  char unused[256];
  if (!make_context("ib", &context, unused, sizeof unused)) {
    snprintf(reason, size, "UCX finds no InfiniBand or RoCE adapter");
    return false;
  }
  u.ucp_cleanup(context);
  if (!make_context("ib,cuda_copy", &context, reason, size)) return false;
  void *plain = malloc(bytes);
  size_t usual = plain ? key_bytes(context, plain, bytes, UCS_MEMORY_TYPE_HOST) : 0;
  size_t its = usual ? key_bytes(context, memory, bytes, UCS_MEMORY_TYPE_CUDA) : 0;
  free(plain);
  u.ucp_cleanup(context);
  if (its && its >= usual) return true;
  snprintf(reason, size, usual ? "UCX %u.%u cannot register the GPU's memory with its adapters; modprobe nvidia_peermem may help"
                               : "UCX %u.%u cannot register any memory with its adapters",
           u.major, u.minor);
  return false;
}

bool graft_ucx_use_gpu(void *memory, size_t bytes, bool anyhow, char *reason, size_t size) {
  unsigned release;
  pthread_mutex_lock(&u.lock);
  bool late = u.context;
  if (late) snprintf(reason, size, "UCX is in use already");
  if (!late) {
    u.cuda = true;
    bool loaded = find_ports(reason, size) && load(reason, size);
    if (loaded) u.ucp_get_version(&u.major, &u.minor, &release);
    u.cuda = loaded && has_cuda(reason, size) && (anyhow || adapters_reach(memory, bytes, reason, size));
    if (u.cuda && (!start(reason, size) || !knows_cuda(u.context))) {
      if (u.context) snprintf(reason, size, "UCX_TLS leaves out cuda_copy");
      u.cuda = false;
    }
  }
  bool can = u.cuda && !late;
  pthread_mutex_unlock(&u.lock);
  return can;
}

/* ---- Connections ---- */

/* Several messages at once, since each large one takes the two ends a word to and fro before its data flows. */
struct flight {
  ucs_status_ptr_t requests[WINDOW];
  unsigned first, count;
  uint64_t begun; /* how many there have been */
  uint64_t since; /* when UCX last had something to do */
};

/* What one direction needs: a worker that no other thread uses. */
struct side {
  ucp_worker_h worker;
  int events;
  uint64_t looks; /* how long is looked while something is on its way */
  bool slept;     /* since UCX last had something to do */
};

struct graft_ucx {
  int socket;
  struct side out, in;
  pthread_mutex_t sending; /* what uses out.worker */
  struct flight flight;    /* what was begun, and is not over */
  bool keeps;              /* over TCP, where UCX may have much left of what it said to have sent */
  uint64_t left_until;     /* until then it may */
  ucp_ep_h peer;
  uint64_t tag_out, tag_in;
  ucs_status_t broken; /* what UCX said when it lost the peer */
  uint64_t looks;      /* how long is looked at most while something is on its way */
  bool together;       /* each end has had a message of the other's */
  bool gone;           /* the socket says so; what had been sent before still counts */
  ucp_tag_message_h next; /* a message that has come, and its length */
  size_t next_bytes;
  struct flight taking; /* what is being received by graft_ucx_take */
  unsigned taken_at_once;
  uint64_t quiet_since; /* since when there has been nothing to receive; 0 if not known */
  uint8_t *rest;       /* a message longer than what was asked for */
  size_t rest_at, rest_end;
};

/* ---- Waiting ---- */

static uint64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* UCX's TCP keeps what its socket does not take at once, and sends it only while it is called; a flush would need the other
 * end's help. So whoever sleeps here wakes now and then, as long as that may be. Other transports keep next to nothing, which is
 * seen to before each sleep. */
static bool send_left(struct graft_ucx *c) {
  uint64_t until = __atomic_load_n(&c->left_until, __ATOMIC_RELAXED);
  if (!until || now() > until) return false;
  if (!pthread_mutex_trylock(&c->sending)) {
    u.ucp_worker_progress(c->out.worker);
    pthread_mutex_unlock(&c->sending);
  }
  return c->keeps;
}

/* Sleeps until a device has something to say, at most as long again as has been waited: UCX or a driver may lose a wake-up.
 * False if the peer has gone, which its socket says. */
static bool sleep_on(struct graft_ucx *c, struct side *side, uint64_t waited) {
  bool left = side == &c->in && send_left(c);
  uint64_t milliseconds = LEAST_MILLISECONDS + waited / 1000000u;
  if (u.ucp_worker_arm(side->worker) != UCS_OK) return true; /* something has come */
  /* And again: what came before a device was armed does not wake on rxe. */
  if (u.ucp_worker_progress(side->worker)) return true;
  if (milliseconds > MOST_MILLISECONDS) milliseconds = MOST_MILLISECONDS;
  if (left && milliseconds > LEFT_MILLISECONDS) milliseconds = LEFT_MILLISECONDS;
  side->slept = true;
  struct pollfd fds[] = {{.fd = side->events, .events = POLLIN}, {.fd = c->socket, .events = POLLRDHUP}};
  return poll(fds, 2, (int)milliseconds) < 0 || !fds[1].revents;
}

/* ---- What UCX works on ---- */

static void take_off(struct graft_ucx *c, struct flight *f, ucs_status_ptr_t request) {
  if (UCS_PTR_IS_ERR(request)) {
    c->broken = UCS_PTR_STATUS(request);
  } else if (request) {
    f->requests[(f->first + f->count++) % WINDOW] = request;
    f->begun++;
  }
}

/* The oldest is over. */
static void land(struct graft_ucx *c, struct flight *f, ucs_status_t status) {
  if (status != UCS_OK) c->broken = status;
  u.ucp_request_free(f->requests[f->first]);
  f->first = (f->first + 1) % WINDOW;
  f->count--;
}

/* Lets UCX work; whether there was something to do. If it slept and to look on would have done, it looks for longer from then
 * on, and for less if it looked in vain: that takes a CPU, which soft RoCE may need for the wire itself. */
static bool progress(struct graft_ucx *c, struct side *side, struct flight *f) {
  if (!u.ucp_worker_progress(side->worker)) return false;
  uint64_t then = now();
  if (side->slept) {
    side->looks = then - f->since < c->looks ? side->looks * 2 : side->looks / 2;
    if (side->looks < LOOKS_NANOSECONDS) side->looks = LOOKS_NANOSECONDS;
    if (side->looks > c->looks) side->looks = c->looks;
    side->slept = false;
  }
  f->since = then;
  return true;
}

/* Lets UCX work, and sleeps if it has had nothing to do for a while. Sees to those that are done, the oldest first, and takes
 * all back if the peer has gone. */
static void work(struct graft_ucx *c, struct side *side, struct flight *f) {
  ucs_status_t status;
  if (!progress(c, side, f) && (c->broken || (now() - f->since > side->looks && !sleep_on(c, side, now() - f->since)))) {
    for (unsigned i = 0; i < f->count; i++) u.ucp_request_cancel(side->worker, f->requests[(f->first + i) % WINDOW]);
    while (u.ucp_worker_progress(side->worker)) continue;
    while (f->count) {
      status = u.ucp_request_check_status(f->requests[f->first]);
      land(c, f, status == UCS_INPROGRESS ? UCS_ERR_CONNECTION_RESET : status);
    }
  }
  while (f->count && (status = u.ucp_request_check_status(f->requests[f->first])) != UCS_INPROGRESS) land(c, f, status);
}

/* Waits until UCX has done it. */
static bool finish(struct graft_ucx *c, struct side *side, ucs_status_ptr_t request) {
  struct flight f = {.since = now()};
  take_off(c, &f, request);
  while (f.count) work(c, side, &f);
  return !c->broken;
}

static const ucp_request_param_t host_memory = {.op_attr_mask = UCP_OP_ATTR_FIELD_MEMORY_TYPE, .memory_type = UCS_MEMORY_TYPE_HOST};
static const ucp_request_param_t gpu_memory = {.op_attr_mask = UCP_OP_ATTR_FIELD_MEMORY_TYPE, .memory_type = UCS_MEMORY_TYPE_CUDA};

/* ---- Coming together ---- */

struct greeting {
  uint32_t magic, version;
  uint32_t status, bytes; /* of the address that follows */
  uint32_t major, minor;  /* of UCX */
  uint64_t tag;
  char message[224];
};
_Static_assert(sizeof(struct greeting) == 256, "the greeting has a fixed size");

/* How much memory this process may lock: an adapter reaches no other. */
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
  snprintf(reason + used, size - used, "; over InfiniBand it wants more than the %llu KiB of memory that may be locked: ulimit -l unlimited",
           (unsigned long long)lockable() >> 10);
}

/* Where too little may be locked UCX (1.13) connects and never receives, or tries for ever to get buffers. */
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

static bool open_side(struct side *side, char *reason, size_t size) {
  ucp_worker_params_t params = {.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE, .thread_mode = UCS_THREAD_MODE_SERIALIZED};
  bool open = !failed(u.ucp_worker_create(u.context, &params, &side->worker), "open a device", reason, size) &&
              !failed(u.ucp_worker_get_efd(side->worker, &side->events), "wait for events of its devices", reason, size);
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
  ucs_status_t status = u.ucp_ep_create(c->out.worker, &params, &c->peer);
  if (status == UCS_ERR_UNREACHABLE) { /* shared memory alone has no errors to handle */
    params.err_mode = UCP_ERR_HANDLING_MODE_NONE;
    status = u.ucp_ep_create(c->out.worker, &params, &c->peer);
  }
  return !failed(status, "reach the other end's devices", reason, size);
}

/* Only UCX's text says over what a connection goes: "lane[0]:  1:tcp/lo.0 ...". */
static bool goes_over(ucp_ep_h peer, const char *transport, bool if_unknown) {
  char *text = NULL;
  size_t size;
  FILE *file = open_memstream(&text, &size);
  if (!file) return if_unknown;
  u.ucp_ep_print_info(peer, file);
  bool over = fclose(file) || !strstr(text, "lane[") ? if_unknown : strstr(text, transport) != NULL;
  free(text);
  return over;
}

bool graft_ucx_is_over_adapter(const struct graft_ucx *c) {
  return goes_over(c->peer, ":rc_", false) || goes_over(c->peer, ":dc_", false);
}

/* Each end's first message makes UCX's connections, for which both workers of both ends have to run: from then on a thread
 * that sends needs nobody's help. Then the ends tell each other by a byte on the socket that this has come about. */
static bool try_out(struct graft_ucx *c, char *reason, size_t size) {
  char mark = 0, said;
  bool told = false, heard = false, arrived = false;
  ucp_tag_recv_info_t info;
  ucs_status_ptr_t sent = u.ucp_tag_send_nbx(c->peer, &mark, sizeof mark, c->tag_out, &host_memory);
  if (UCS_PTR_IS_ERR(sent)) c->broken = UCS_PTR_STATUS(sent);
  uint64_t since = now();
  while (!(told && heard) && !c->broken && now() - since < GRAFT_HANDSHAKE_MILLISECONDS * 1000000ull) {
    u.ucp_worker_progress(c->out.worker);
    u.ucp_worker_progress(c->in.worker);
    ucp_tag_message_h message = arrived ? NULL : u.ucp_tag_probe_nb(c->in.worker, c->tag_in, UINT64_MAX, 1, &info);
    if (message) arrived = info.length == 1 && finish(c, &c->in, u.ucp_tag_msg_recv_nbx(c->in.worker, &said, 1, message, &host_memory));
    bool done = arrived && (!sent || u.ucp_request_check_status(sent) == UCS_OK);
    if (done && !told) told = send(c->socket, &mark, 1, MSG_NOSIGNAL) == 1;
    struct pollfd p = {.fd = c->socket, .events = POLLIN};
    if (!heard && poll(&p, 1, 0) == 1) {
      heard = recv(c->socket, &said, 1, 0) == 1;
      if (!heard) c->broken = UCS_ERR_CONNECTION_RESET;
    }
  }
  if (UCS_PTR_IS_PTR(sent)) u.ucp_request_free(sent);
  c->together = told && heard;
  c->keeps = c->together && goes_over(c->peer, ":tcp/", true);
  /* In shared memory UCX copies within its calls: several at once only make each later. */
  c->taken_at_once = c->keeps || graft_ucx_is_over_adapter(c) ? TAKEN_AT_ONCE : 1;
  if (c->together) return true;
  failed(c->broken ? c->broken : UCS_ERR_TIMED_OUT, "reach the other end", reason, size);
  add_limit(reason, size);
  return false;
}

/* Tells the peer why it is not to be, and hears what it says meanwhile: a socket that is closed with that unread takes the
 * reason with it. */
static void refuse(int socket, const char *reason) {
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
  } else if (theirs->major != u.major || theirs->minor != u.minor) {
    /* UCX promises no common wire format between its versions. */
    snprintf(reason, size, "UCX is version %u.%u here and %u.%u at the other end: rdma needs the same", u.major, u.minor,
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
      ours = {.magic = MAGIC, .version = VERSION, .bytes = (uint32_t)bytes, .major = u.major, .minor = u.minor, .tag = c->tag_in};
  bool told = graft_exchange(c->socket, &ours, sizeof ours, NULL, 0) && graft_exchange(c->socket, address, bytes, NULL, 0);
  if (!told || !graft_exchange(c->socket, NULL, 0, &theirs, sizeof theirs)) {
    snprintf(reason, size, "the other end does not agree on rdma: %s", strerror(errno));
    return false;
  }
  if (!check(&theirs, reason, size)) return false;
  c->tag_out = theirs.tag;
  char *there = malloc(theirs.bytes);
  bool got = there && graft_exchange(c->socket, NULL, 0, there, theirs.bytes);
  if (!got) snprintf(reason, size, "the other end's rdma address does not come: %s", strerror(errno));
  bool connected = got && connect_to(c, there, reason, size);
  free(there);
  return connected && try_out(c, reason, size);
}

static bool set_up(struct graft_ucx *c, char *reason, size_t size) {
  ucp_address_t *address;
  size_t bytes;
  c->rest = malloc(MOST);
  if (!c->rest || getrandom(&c->tag_in, sizeof c->tag_in, 0) != (ssize_t)sizeof c->tag_in) {
    snprintf(reason, size, "no memory or no random numbers for rdma");
    return false;
  }
  if (!may_lock(reason, size) || !open_side(&c->out, reason, size) || !open_side(&c->in, reason, size) ||
      failed(u.ucp_worker_get_address(c->in.worker, &address, &bytes), "say where its devices are", reason, size)) {
    refuse(c->socket, reason);
    return false;
  }
  bool agreed = agree(c, address, bytes, reason, size);
  u.ucp_worker_release_address(c->in.worker, address);
  return agreed;
}

struct graft_ucx *graft_ucx_open(int socket, char *reason, size_t size) {
  if (!graft_ucx_present(reason, size)) {
    refuse(socket, reason);
    return NULL;
  }
  struct graft_ucx *c = calloc(1, sizeof *c);
  if (!c) {
    snprintf(reason, size, "no memory for rdma");
    return NULL;
  }
  c->socket = socket;
  c->looks = sysconf(_SC_NPROCESSORS_ONLN) > 1 ? FLIGHT_NANOSECONDS : LOOKS_NANOSECONDS;
  c->out.looks = c->in.looks = c->looks;
  pthread_mutex_init(&c->sending, NULL);
  if (set_up(c, reason, size)) return c;
  graft_ucx_close(c);
  return NULL;
}

/* ---- Sending ---- */

static uint64_t begin(struct graft_ucx *c, const void *data, size_t bytes, const ucp_request_param_t *memory) {
  const uint8_t *at = data;
  struct flight *f = &c->flight;
  pthread_mutex_lock(&c->sending);
  f->since = now();
  if (bytes > GRAFT_UCX_SURELY_EAGER) __atomic_store_n(&c->left_until, f->since + LEFT_NANOSECONDS, __ATOMIC_RELAXED);
  while (bytes && !c->broken) {
    if (f->count == WINDOW) {
      work(c, &c->out, f);
      continue;
    }
    size_t take = bytes < MOST ? bytes : MOST;
    take_off(c, f, u.ucp_tag_send_nbx(c->peer, at, take, c->tag_out, memory));
    at += take;
    bytes -= take;
  }
  pthread_mutex_unlock(&c->sending);
  return f->begun;
}

uint64_t graft_ucx_begin(struct graft_ucx *c, const void *data, size_t bytes) { return begin(c, data, bytes, &host_memory); }

bool graft_ucx_is_over(const struct graft_ucx *c, uint64_t mark) { return c->flight.begun - c->flight.count >= mark; }

bool graft_ucx_work(struct graft_ucx *c) {
  pthread_mutex_lock(&c->sending);
  if (c->flight.count) work(c, &c->out, &c->flight);
  pthread_mutex_unlock(&c->sending);
  if (!c->broken) return true;
  errno = ECONNRESET;
  return false;
}

static bool send_all(struct graft_ucx *c, const void *data, size_t bytes, const ucp_request_param_t *memory) {
  uint64_t mark = begin(c, data, bytes, memory);
  while (!graft_ucx_is_over(c, mark)) graft_ucx_work(c);
  return graft_ucx_work(c);
}

bool graft_ucx_send(struct graft_ucx *c, const void *data, size_t bytes) { return send_all(c, data, bytes, &host_memory); }

bool graft_ucx_send_gpu(struct graft_ucx *c, const void *data, size_t bytes) { return send_all(c, data, bytes, &gpu_memory); }

void graft_ucx_send_left(struct graft_ucx *c, int bell) {
  struct pollfd p = {.fd = bell, .events = POLLIN};
  while (send_left(c) && poll(&p, 1, LEFT_MILLISECONDS) <= 0) continue;
}

/* ---- Receiving ---- */

static ssize_t take_rest(struct graft_ucx *c, void *to, size_t bytes) {
  size_t have = c->rest_end - c->rest_at;
  size_t take = bytes < have ? bytes : have;
  memcpy(to, c->rest + c->rest_at, take);
  c->rest_at += take;
  return (ssize_t)take;
}

/* The next message, if it is here; its length is in c->next_bytes. */
static bool find(struct graft_ucx *c) {
  ucp_tag_recv_info_t info;
  if (!c->next && (c->next = u.ucp_tag_probe_nb(c->in.worker, c->tag_in, UINT64_MAX, 1, &info))) c->next_bytes = info.length;
  return c->next;
}

static ucs_status_ptr_t take_next(struct graft_ucx *c, void *to, const ucp_request_param_t *memory) {
  ucp_tag_message_h message = c->next;
  c->next = NULL;
  return u.ucp_tag_msg_recv_nbx(c->in.worker, to, c->next_bytes, message, memory);
}

/* The message that is here, and as many as follow it at once while there is room and the sender has cut what it sends. */
static size_t take_several(struct graft_ucx *c, uint8_t *to, size_t bytes) {
  struct flight f = {.since = now()};
  size_t taken = 0;
  bool more = true;
  for (;;) {
    if (more && f.count < WINDOW && !c->broken && find(c) && c->next_bytes <= bytes - taken) {
      more = c->next_bytes == MOST;
      take_off(c, &f, take_next(c, to + taken, &host_memory));
      taken += c->next_bytes;
    } else if (f.count) {
      work(c, &c->in, &f);
    } else {
      return taken;
    }
  }
}

/* Whether the message that is here may go there, as a whole where no byte may go astray. */
static bool fits(const struct graft_ucx *c, size_t bytes, bool in_part) {
  return c->next_bytes && c->next_bytes <= MOST && (in_part || (c->next_bytes <= bytes && c->rest_at == c->rest_end));
}

/* A message that is longer than what was asked for. */
static bool take_into_rest(struct graft_ucx *c) {
  size_t bytes = c->next_bytes;
  if (!finish(c, &c->in, take_next(c, c->rest, &host_memory))) return false;
  c->rest_at = 0;
  c->rest_end = bytes;
  return true;
}

ssize_t graft_ucx_try(struct graft_ucx *c, void *to, size_t bytes) {
  if (c->rest_at < c->rest_end) return take_rest(c, to, bytes);
  progress(c, &c->in, &c->taking);
  if (!find(c)) {
    errno = EAGAIN;
    return c->gone ? 0 : -1;
  }
  if (!fits(c, bytes, true)) {
    errno = EPROTO;
    return -1;
  }
  c->quiet_since = 0;
  size_t got = 0;
  if (c->next_bytes <= bytes) {
    got = take_several(c, to, bytes);
  } else if (take_into_rest(c)) {
    return take_rest(c, to, bytes);
  }
  if (!c->broken) return (ssize_t)got;
  errno = ECONNRESET;
  return -1;
}

void graft_ucx_wait(struct graft_ucx *c) {
  while (u.ucp_worker_progress(c->in.worker)) continue;
  if (find(c)) return;
  if (!c->quiet_since) c->quiet_since = now();
  c->gone = !sleep_on(c, &c->in, now() - c->quiet_since);
  while (c->gone && u.ucp_worker_progress(c->in.worker)) continue;
}

ssize_t graft_ucx_receive(struct graft_ucx *c, void *to, size_t bytes) {
  uint64_t since = now();
  for (;;) {
    ssize_t n = graft_ucx_try(c, to, bytes);
    if (n >= 0 || errno != EAGAIN) return n;
    if (now() - since > LOOKS_NANOSECONDS) graft_ucx_wait(c);
  }
}

/* Until a message is here, or something is over of what is being received. */
static void await_any(struct graft_ucx *c) {
  struct flight *f = &c->taking;
  if (f->count) {
    work(c, &c->in, f);
  } else if (!progress(c, &c->in, f) && now() - f->since > c->in.looks) {
    graft_ucx_wait(c);
    if (c->gone && !find(c)) c->broken = UCS_ERR_CONNECTION_RESET;
  }
}

static int64_t take(struct graft_ucx *c, uint8_t *to, size_t bytes, const ucp_request_param_t *memory) {
  struct flight *f = &c->taking;
  bool ours = memory == &host_memory;
  f->since = now();
  while (bytes && !c->broken) {
    size_t taken = 0;
    if (ours && c->rest_at < c->rest_end) {
      taken = (size_t)take_rest(c, to, bytes);
    } else if (f->count == c->taken_at_once || !find(c)) {
      await_any(c);
    } else if (!fits(c, bytes, ours)) {
      errno = EPROTO;
      return -1;
    } else if (c->next_bytes <= bytes) {
      taken = c->next_bytes;
      take_off(c, f, take_next(c, to, memory));
    } else {
      take_into_rest(c);
    }
    to += taken;
    bytes -= taken;
  }
  if (!c->broken) return (int64_t)f->begun;
  errno = ECONNRESET;
  return -1;
}

int64_t graft_ucx_take(struct graft_ucx *c, void *to, size_t bytes) { return take(c, to, bytes, &host_memory); }

int64_t graft_ucx_take_gpu(struct graft_ucx *c, void *to, size_t bytes) { return take(c, to, bytes, &gpu_memory); }

bool graft_ucx_is_taken(const struct graft_ucx *c, int64_t mark) { return c->taking.begun - c->taking.count >= (uint64_t)mark; }

bool graft_ucx_work_taking(struct graft_ucx *c) {
  if (c->taking.count) work(c, &c->in, &c->taking);
  if (!c->broken) return true;
  errno = ECONNRESET;
  return false;
}

void graft_ucx_close(struct graft_ucx *c) {
  /* UCX (1.13) ends the process with an assertion if a connection over InfiniBand is taken away that is still being made, by
   * itself or with its worker: this one stays until the process ends. */
  if (c->peer && !c->together) return;
  if (c->peer) {
    ucp_request_param_t force = {.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS, .flags = UCP_EP_CLOSE_FLAG_FORCE};
    ucs_status_ptr_t request = u.ucp_ep_close_nbx(c->peer, &force);
    uint64_t since = now();
    while (UCS_PTR_IS_PTR(request) && u.ucp_request_check_status(request) == UCS_INPROGRESS && now() - since < CLOSE_NANOSECONDS) {
      u.ucp_worker_progress(c->out.worker);
    }
    if (UCS_PTR_IS_PTR(request)) u.ucp_request_free(request);
  }
  if (c->out.worker) u.ucp_worker_destroy(c->out.worker);
  if (c->in.worker) u.ucp_worker_destroy(c->in.worker);
  free(c->rest);
  free(c);
}

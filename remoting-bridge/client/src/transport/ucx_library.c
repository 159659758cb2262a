/* Opens libucp when it is first needed, with the settings that Graft needs, and with CUDA if the server asks for it. */
#include <dlfcn.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "transport/rails.h"
#include "transport/ucx_internal.h"

/* Messages of this size and more are received directly into their memory. The limit that UCX estimates is above 256 KiB on soft RoCE, where copied messages reach a tenth of the throughput. */
#define RENDEZVOUS "32k"

struct graft_ucx_library ucx = {.lock = PTHREAD_MUTEX_INITIALIZER};

bool graft_ucx_failed(ucs_status_t status, const char *what, char *reason, size_t size) {
  if (status == UCS_OK) return false;
  snprintf(reason, size, "UCX cannot %s: %s", what, ucx.status_string(status));
  return true;
}

/* UCX reads its settings when it is loaded. By default it handles signals that Java and programs use, and writes to the program's output what it also returns as errors. Its CUDA module calls the driver as soon as it is loaded; in a client the driver is this library, which is still connecting. */
static void *open_library(void) {
  static const char *const settings[][2] = {{"UCX_ERROR_SIGNALS", ""}, {"UCX_LOG_LEVEL", "fatal"}, {"UCX_MODULES", "^cuda,rocm"}};
  bool ours[3];
  int count = ucx.cuda ? 2 : 3;
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
#define FIND(name)                                               \
  if (!(ucx.name = (__typeof__(name) *)dlsym(library, #name))) { \
    missing = #name;                                             \
  }
  GRAFT_UCX_FUNCTIONS(FIND)
  ucx.status_string = (const char *(*)(ucs_status_t))dlsym(library, "ucs_status_string");
  if (!missing && ucx.status_string) return ucx.is_loaded = true;
  snprintf(reason, size, "rdma needs UCX 1.10 or later: its library here has no %s", missing ? missing : "ucs_status_string");
  dlclose(library);
  return false;
}

static bool is_at(const struct sockaddr *one, const struct sockaddr_storage *other) {
  if (!one || one->sa_family != other->ss_family) return false;
  if (one->sa_family == AF_INET)
    return ((const struct sockaddr_in *)one)->sin_addr.s_addr == ((const struct sockaddr_in *)other)->sin_addr.s_addr;
  return one->sa_family == AF_INET6 && !memcmp(&((const struct sockaddr_in6 *)one)->sin6_addr,
                                               &((const struct sockaddr_in6 *)other)->sin6_addr, sizeof(struct in6_addr));
}

/* The machine's interface with the address of this end of a socket; "" if there is none, as for a Unix socket. */
static void find_interface(int socket, char name[IF_NAMESIZE]) {
  struct sockaddr_storage here = {0};
  struct ifaddrs *all = NULL;
  name[0] = 0;
  if (getsockname(socket, (struct sockaddr *)&here, &(socklen_t){sizeof here})) return;
  struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)&here;
  if (here.ss_family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(&in6->sin6_addr)) {
    struct sockaddr_in in = {.sin_family = AF_INET};
    memcpy(&in.sin_addr, &in6->sin6_addr.s6_addr[12], sizeof in.sin_addr);
    memcpy(&here, &in, sizeof in);
  }
  if (getifaddrs(&all)) return;
  for (struct ifaddrs *one = all; one && !name[0]; one = one->ifa_next) {
    if (is_at(one->ifa_addr, &here)) snprintf(name, IF_NAMESIZE, "%s", one->ifa_name);
  }
  freeifaddrs(all);
}

/*
 * Finds the devices that are to be used: the given ports, or else all adapters and one interface, that of the connection's socket. UCX by itself takes the fastest of
 * the machine's interfaces, such as a bridge of guests; once that bridge is removed, the connection carries nothing, and does not end either. A setting in UCX's own
 * environment variable has precedence.
 */
static bool find_devices(const char *interface, char *reason, size_t size) {
  ucx.devices[0] = 0;
  if (getenv("UCX_NET_DEVICES")) return true;
  if (ucx.ports[0]) return graft_rails(ucx.folder, ucx.ports, ucx.devices, sizeof ucx.devices, reason, size);
  if (!interface[0]) return true;
  if (!graft_rails_all(ucx.folder, ucx.devices, sizeof ucx.devices - IF_NAMESIZE - 1)) {
    ucx.devices[0] = 0; /* too many to name */
    return true;
  }
  size_t used = strlen(ucx.devices);
  snprintf(ucx.devices + used, sizeof ucx.devices - used, "%s%s", used ? "," : "", interface);
  return true;
}

/*
 * Makes a context with the transports that are given, or else with all that UCX has but shared memory. For that UCX would reserve some 9 MB for each connection, whether
 * it uses them or not, and all workers of a guest have 64 MiB together (their /dev/shm), so that a guest could have seven sessions. Processes of one machine have the channel shm.
 */
static bool make_context(const char *transports, ucp_context_h *context, char *reason, size_t size) {
  ucp_config_t *config;
  ucp_params_t params = {.field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_MT_WORKERS_SHARED,
                         .features = transports ? UCP_FEATURE_RMA : UCP_FEATURE_TAG | UCP_FEATURE_WAKEUP,
                         .mt_workers_shared = 1};
  if (graft_ucx_failed(ucx.ucp_config_read(NULL, NULL, &config), "read its settings", reason, size)) return false;
  if (transports || !getenv("UCX_TLS"))
    ucx.ucp_config_modify(config, "TLS", transports ? transports : ucx.cuda ? "^rocm,sm" : "^cuda,rocm,sm");
  if (!getenv("UCX_RNDV_THRESH")) ucx.ucp_config_modify(config, "RNDV_THRESH", RENDEZVOUS);
  if (ucx.devices[0]) ucx.ucp_config_modify(config, "NET_DEVICES", ucx.devices);
  ucs_status_t status = ucx.ucp_init_version(UCP_API_MAJOR, UCP_API_MINOR, &params, config, context);
  ucx.ucp_config_release(config);
  return !graft_ucx_failed(status, "start", reason, size);
}

static bool start(char *reason, size_t size) {
  unsigned release;
  ucp_context_h made;
  ucx.ucp_get_version(&ucx.major, &ucx.minor, &release);
  if (!make_context(NULL, &made, reason, size)) return false;
  ucx.context = made;
  return true;
}

void graft_ucx_use(const char *folder, const char *ports) {
  pthread_mutex_lock(&ucx.lock);
  snprintf(ucx.folder, sizeof ucx.folder, "%s", folder);
  snprintf(ucx.ports, sizeof ucx.ports, "%s", ports);
  pthread_mutex_unlock(&ucx.lock);
}

bool graft_ucx_present(char *reason, size_t size) {
  pthread_mutex_lock(&ucx.lock);
  bool present = ucx.is_loaded || (find_devices("", reason, size) && load(reason, size));
  pthread_mutex_unlock(&ucx.lock);
  return present;
}

ucp_context_h graft_ucx_context(int socket, ucp_context_h but, char *reason, size_t size) {
  char interface[IF_NAMESIZE];
  find_interface(socket, interface);
  pthread_mutex_lock(&ucx.lock);
  bool is_other = !ucx.context || ucx.context == but || strcmp(interface, ucx.interface);
  bool can = !is_other || (find_devices(interface, reason, size) && start(reason, size));
  if (can) memcpy(ucx.interface, interface, sizeof interface);
  ucp_context_h context = can ? ucx.context : NULL;
  pthread_mutex_unlock(&ucx.lock);
  return context;
}

/* ---- The GPU's memory ---- */

static bool knows_cuda(ucp_context_h context) {
  ucp_context_attr_t attributes = {.field_mask = UCP_ATTR_FIELD_MEMORY_TYPES};
  return ucx.ucp_context_query(context, &attributes) == UCS_OK && attributes.memory_types & 1ull << UCS_MEMORY_TYPE_CUDA;
}

static bool has_cuda(char *reason, size_t size) {
  ucp_context_h context;
  bool known = make_context("cuda_copy", &context, reason, size);
  if (known) {
    known = knows_cuda(context);
    ucx.ucp_cleanup(context);
  }
  if (!known) snprintf(reason, size, "UCX %u.%u here is built without CUDA, or finds no GPU", ucx.major, ucx.minor);
  return known;
}

/* The size of the key by which others access memory, which grows with the number of adapters that can. 0 if none can. */
static size_t key_bytes(ucp_context_h context, void *memory, size_t bytes, ucs_memory_type_t type) {
  ucp_mem_map_params_t params = {
      .field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH | UCP_MEM_MAP_PARAM_FIELD_MEMORY_TYPE,
      .address = memory,
      .length = bytes,
      .memory_type = type};
  ucp_mem_h mapped;
  void *key;
  size_t length = 0;
  if (ucx.ucp_mem_map(context, &params, &mapped) != UCS_OK) return 0;
  if (ucx.ucp_rkey_pack(context, mapped, &key, &length) == UCS_OK) {
    ucx.ucp_rkey_buffer_release(key);
  } else {
    length = 0;
  }
  ucx.ucp_mem_unmap(context, mapped);
  return length;
}

/* UCX does not say whether its adapters can access the GPU (by nvidia_peermem, or, since 1.14, by dma-buf, which needs cuda_copy), and maps memory that no adapter can access. So the size of the key is compared with that for memory that all of them can access. */
static bool adapters_reach(void *memory, size_t bytes, char *reason, size_t size) {
  ucp_context_h context;
  char unused[256];
  if (!make_context("ib", &context, unused, sizeof unused)) {
    snprintf(reason, size, "UCX finds no InfiniBand or RoCE adapter");
    return false;
  }
  ucx.ucp_cleanup(context);
  if (!make_context("ib,cuda_copy", &context, reason, size)) return false;
  void *plain = malloc(bytes);
  size_t usual = plain ? key_bytes(context, plain, bytes, UCS_MEMORY_TYPE_HOST) : 0;
  size_t its = usual ? key_bytes(context, memory, bytes, UCS_MEMORY_TYPE_CUDA) : 0;
  free(plain);
  ucx.ucp_cleanup(context);
  if (its && its >= usual) return true;
  snprintf(reason, size,
           usual ? "UCX %u.%u cannot register the GPU's memory with its adapters; modprobe nvidia_peermem may help"
                 : "UCX %u.%u cannot register any memory with its adapters",
           ucx.major, ucx.minor);
  return false;
}

bool graft_ucx_use_gpu(void *memory, size_t bytes, bool anyhow, char *reason, size_t size) {
  unsigned release;
  pthread_mutex_lock(&ucx.lock);
  bool late = ucx.context;
  if (late) snprintf(reason, size, "UCX is in use already");
  if (!late) {
    ucx.cuda = true;
    bool loaded = find_devices("", reason, size) && load(reason, size);
    if (loaded) ucx.ucp_get_version(&ucx.major, &ucx.minor, &release);
    ucx.cuda = loaded && has_cuda(reason, size) && (anyhow || adapters_reach(memory, bytes, reason, size));
    if (ucx.cuda && (!start(reason, size) || !knows_cuda(ucx.context))) {
      if (ucx.context) snprintf(reason, size, "UCX_TLS leaves out cuda_copy");
      ucx.cuda = false;
    }
  }
  bool can = ucx.cuda && !late;
  pthread_mutex_unlock(&ucx.lock);
  return can;
}

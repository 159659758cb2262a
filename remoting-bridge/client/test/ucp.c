/* A stand-in for libucp that simulates other hardware. The letters in the variable STUB name it: c CUDA, i an adapter, p an adapter
 * that can register the GPU's memory, f one that fails to register it with an error, g a device that is gone when the first context is used. d: errors name the
 * devices that a context is to use. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ucp/api/ucp.h>

static char transports[64], devices[256], error[300];
static uint64_t last_types; /* of the context that was created last */
static char contexts[16];   /* their addresses are the contexts */
static int count;

static int has(char what) { return strchr(getenv("STUB"), what) != NULL; }

const char *ucs_status_string(ucs_status_t status) {
  snprintf(error, sizeof error, "the stub refuses%s%s", has('d') ? " " : "", has('d') ? devices : "");
  return status == UCS_OK ? "fine" : error;
}

void ucp_get_version(unsigned *major, unsigned *minor, unsigned *release) {
  *major = 1;
  *minor = 13;
  *release = 0;
}

ucs_status_t ucp_config_read(const char *prefix, const char *file, ucp_config_t **config) {
  transports[0] = devices[0] = 0;
  *config = (ucp_config_t *)transports;
  return UCS_OK;
}

ucs_status_t ucp_config_modify(ucp_config_t *config, const char *name, const char *value) {
  if (!strcmp(name, "TLS")) strncpy(transports, value, sizeof transports - 1);
  if (!strcmp(name, "NET_DEVICES")) strncpy(devices, value, sizeof devices - 1);
  return UCS_OK;
}

void ucp_config_release(ucp_config_t *config) {}

ucs_status_t ucp_init_version(unsigned major, unsigned minor, const ucp_params_t *params, const ucp_config_t *config,
                              ucp_context_h *context) {
  if (!strcmp(transports, "ib") && !has('i')) return UCS_ERR_NO_DEVICE;
  if (!strcmp(transports, "cuda_copy") && !has('c')) return UCS_ERR_NO_DEVICE;
  int cuda = !strcmp(transports, "^rocm,sm") || strstr(transports, "cuda_copy");
  last_types = 1u << UCS_MEMORY_TYPE_HOST | (has('c') && cuda ? 1u << UCS_MEMORY_TYPE_CUDA : 0);
  *context = (ucp_context_h)&contexts[count++ % 16];
  return UCS_OK;
}

void ucp_cleanup(ucp_context_h context) {}

ucs_status_t ucp_context_query(ucp_context_h context, ucp_context_attr_t *attributes) {
  attributes->memory_types = last_types;
  return UCS_OK;
}

ucs_status_t ucp_mem_map(ucp_context_h context, const ucp_mem_map_params_t *params, ucp_mem_h *mapped) {
  static char host, reached, unreached;
  int cuda = params->memory_type == UCS_MEMORY_TYPE_CUDA;
  if (cuda && has('f')) return UCS_ERR_IO_ERROR;
  *mapped = (ucp_mem_h)(!cuda ? &host : has('p') ? &reached : &unreached);
  *(char *)*mapped = !cuda || has('p') ? 20 : 11;
  return UCS_OK;
}

ucs_status_t ucp_mem_unmap(ucp_context_h context, ucp_mem_h mapped) { return UCS_OK; }

ucs_status_t ucp_rkey_pack(ucp_context_h context, ucp_mem_h mapped, void **key, size_t *bytes) {
  *key = mapped;
  *bytes = *(unsigned char *)mapped;
  return UCS_OK;
}

void ucp_rkey_buffer_release(void *key) {}

ucs_status_t ucp_worker_create(ucp_context_h context, const ucp_worker_params_t *params, ucp_worker_h *worker) {
  if (has('g') && (char *)context == contexts) return UCS_ERR_NO_DEVICE;
  *worker = (ucp_worker_h)context;
  return UCS_OK;
}

void ucp_worker_destroy(ucp_worker_h worker) {}

ucs_status_t ucp_worker_get_efd(ucp_worker_h worker, int *fd) {
  *fd = 0;
  return UCS_OK;
}

/* A connection gets as far as this. */
ucs_status_t ucp_worker_get_address(ucp_worker_h worker, ucp_address_t **address, size_t *bytes) { return UCS_ERR_IO_ERROR; }

/* The client looks these functions up, but the test never calls them. */
__attribute__((used)) static void never(void) { abort(); }
#define NEVER(name) __asm__(".globl " #name "\n.set " #name ", never")
NEVER(ucp_worker_release_address);
NEVER(ucp_worker_arm);
NEVER(ucp_worker_progress);
NEVER(ucp_ep_create);
NEVER(ucp_ep_print_info);
NEVER(ucp_ep_close_nbx);
NEVER(ucp_tag_send_nbx);
NEVER(ucp_tag_probe_nb);
NEVER(ucp_tag_msg_recv_nbx);
NEVER(ucp_request_check_status);
NEVER(ucp_request_cancel);
NEVER(ucp_request_free);

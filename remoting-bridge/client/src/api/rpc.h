/* What the generated marshalling uses: calls to a server, and the objects behind handles. */
#ifndef GRAFT_RPC_RUNTIME_H
#define GRAFT_RPC_RUNTIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define GRAFT_EXPORT __attribute__((visibility("default")))

/* CUresult values that the client itself returns (CUDA driver API reference). */
enum {
  GRAFT_OK = 0,
  GRAFT_INVALID_VALUE = 1,
  GRAFT_OUT_OF_MEMORY = 2,
  GRAFT_NOT_INITIALIZED = 3,
  GRAFT_DEINITIALIZED = 4,
  GRAFT_DEVICE_UNAVAILABLE = 46,
  GRAFT_NO_DEVICE = 100,
  GRAFT_INVALID_DEVICE = 101,
  GRAFT_INVALID_IMAGE = 200,
  GRAFT_INVALID_CONTEXT = 201,
  GRAFT_UNSUPPORTED_LIMIT = 215,
  GRAFT_JIT_COMPILATION_DISABLED = 223,
  GRAFT_FILE_NOT_FOUND = 301,
  GRAFT_OPERATING_SYSTEM = 304,
  GRAFT_INVALID_HANDLE = 400,
  GRAFT_ILLEGAL_STATE = 401,
  GRAFT_NOT_FOUND = 500,
  GRAFT_NOT_READY = 600,
  GRAFT_PRIMARY_CONTEXT_ACTIVE = 708,
  GRAFT_CONTEXT_IS_DESTROYED = 709,
  GRAFT_HOST_MEMORY_ALREADY_REGISTERED = 712,
  GRAFT_HOST_MEMORY_NOT_REGISTERED = 713,
  GRAFT_PEER_ACCESS_UNSUPPORTED = 217,
  GRAFT_UNSUPPORTED_EXEC_AFFINITY = 224,
  GRAFT_PEER_ACCESS_NOT_ENABLED = 705,
  GRAFT_NOT_SUPPORTED = 801,
  GRAFT_STREAM_CAPTURE_UNSUPPORTED = 900,
  GRAFT_STREAM_CAPTURE_INVALIDATED = 901,
  GRAFT_STREAM_CAPTURE_IMPLICIT = 906,
  GRAFT_STREAM_CAPTURE_WRONG_THREAD = 908,
};

struct graft_object;
struct graft_session;

/* The stream that a call names. */
enum graft_named_stream { GRAFT_NO_STREAM, GRAFT_LEGACY_STREAM, GRAFT_OTHER_STREAM };

/* A request under construction: between graft_begin and graft_send or graft_wait the session is locked. */
struct graft_call {
  struct graft_session *session;
  uint8_t *start; /* of the record: in the ring, or in a buffer if the ring has no contiguous room */
  uint8_t *at;
  uint8_t *end;
  uint32_t slot;
  int function;
  enum graft_named_stream stream;
  const void *bulk;
  size_t bulk_bytes;
  uint64_t began; /* the time of graft_now if the call is traced, else 0 */
  bool brought;   /* mirrored memory was brought up to date for the call, so that graft_mirrors_sent follows */
};

/* Where a result is written: bytes to copy, and the kind of the handles that ids become, or -1. */
struct graft_result {
  void *to;
  size_t bytes;
  int kind;
};

/* Starts a request with this many bytes of parameters, in call->session or, if that is NULL, in the calling thread's session. Fails if
 * there is no server. */
int graft_begin(struct graft_call *call, int function, size_t bytes);
/* Sets the bulk data of the call. The data is read before graft_send or graft_wait returns. */
void graft_bulk(struct graft_call *call, const void *data, size_t bytes);
/* Sends without waiting, but for what a capture may forbid. */
int graft_send(struct graft_call *call);
/* Sends and waits for the reply; fills in the results. */
int graft_wait(struct graft_call *call, const struct graft_result *results, int count);

/* No record has room for more elements of a list. */
#define GRAFT_MOST_ELEMENTS (1u << 24)

/* Padded to 8 bytes. */
static inline size_t graft_padded(size_t bytes) { return (bytes + 7) & ~(size_t)7; }
static inline size_t graft_block_size(size_t bytes) { return 8 + graft_padded(bytes); }
static inline size_t graft_text_size(const char *text) { return text ? strlen(text) + 1 : 0; }

static inline void graft_put(struct graft_call *call, uint64_t value) {
  memcpy(call->at, &value, 8);
  call->at += 8;
}

static inline void graft_put_block(struct graft_call *call, const void *data, size_t bytes) {
  graft_put(call, bytes);
  if (bytes) {
    size_t padded = graft_padded(bytes);
    memset(call->at + padded - 8, 0, 8);
    memcpy(call->at, data, bytes);
    call->at += padded;
  }
}

/* The id of a handle that is a parameter of a call. The call goes to the session of the first handle; the others must belong to the
 * same session. NULL is 0 and belongs to no session; for streams, it is the calling thread's default stream. */
int graft_call_handle(struct graft_call *call, int kind, const void *handle, uint64_t *id);
/* For a device that is a parameter of a call, by the program's ordinal: the call goes to the session that has it. INVALID_DEVICE if another parameter belongs to another session. */
int graft_call_device(struct graft_call *call, int ordinal);
/* The same for structures that name a device: each has a location (CUmemLocation) at this offset. */
int graft_call_located(struct graft_call *call, const void *data, size_t count, size_t bytes, size_t offset);
/* Puts the ids of handles; one that is not valid becomes an id that the server refuses. */
void graft_put_handles(struct graft_call *call, int kind, void *const *handles, size_t count);

static inline uint64_t graft_float_bits(float value) {
  uint32_t bits;
  memcpy(&bits, &value, 4);
  return bits;
}

/* The server's ordinal of a device that the program names by its own ordinal, or one that the server refuses. */
int graft_device_ordinal(const struct graft_session *session, int ordinal);
/* Replaces the program's ordinal in a location (CUmemLocation) by the server's. */
void graft_location_to_server(const struct graft_session *session, void *location);
/* Puts structures that name a device: each has a location at this offset. */
void graft_put_located(struct graft_call *call, const void *data, size_t count, size_t bytes, size_t offset);

/* The id of a handle that the program passes in another way; the handle must belong to the session. */
int graft_id(const struct graft_session *session, int kind, const void *handle, uint64_t *id);
/* An object with an id that the client chooses, in a session or, if that is NULL, in the calling thread's session. */
struct graft_object *graft_object_new(struct graft_session *session, int kind);
void graft_object_free(int kind, void *object);
uint64_t graft_object_id(const struct graft_object *object);

/* Returns CUDA_ERROR_NOT_SUPPORTED for a function that the client does not have, and prints a line with GRAFT_DEBUG. */
int graft_not_served(const char *name);

/* Within a per-thread variant (_ptsz, _ptds) the stream 0 is the thread's own. */
int graft_per_thread_enter(void);
void graft_per_thread_leave(int before);

#endif

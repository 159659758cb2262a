/* The client's own parts. Every function is safe to call from any thread unless it says otherwise. */
#ifndef GRAFT_H
#define GRAFT_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "exchange.h"
#include "graft_rpc.h"
#include "rpc.h"
#include "wire.h"

#define GRAFT_CUDA_VERSION 13000
#define GRAFT_MAX_DEVICES 32
#define GRAFT_ATTRIBUTES 256
#define GRAFT_LIMITS 10 /* CUlimit */
#define GRAFT_BETWEEN_SERVERS ", \t" /* what stands between addresses */

/* ---- Configuration: file, then environment (config.c) ---- */
struct graft_config {
  char servers[1024];    /* addresses, the best first */
  char server[256];      /* the one in use */
  char rdma_ports[1024], rdma_devices[256]; /* the ports that rdma is to go by (rails.h); the folder in which sysfs shows them */
  char pci_devices[256]; /* the folder in which sysfs shows PCI devices */
  char name[64];
  uint8_t token[32];
  bool has_token;
  int spin_microseconds;
  int lanes; /* connections for bulk data; -1 for as many as suit */
  bool managed_exclusive; /* managed memory is the program's or the device's at a time */
  bool stats;
  int debug;
};
/* Reads it; on failure writes a reason of one line. */
bool graft_config_read(struct graft_config *config, char *reason, size_t size);

/* ---- Cryptography (sha256.c, md2.c) ---- */
void graft_sha256(const void *data, size_t bytes, uint8_t out[32]);
void graft_hmac_sha256(const uint8_t *key, size_t key_bytes, const void *const *parts, const size_t *sizes, int count,
                       uint8_t out[32]);
void graft_md2(const uint8_t *data, size_t bytes, uint8_t out[16]);
void graft_hmac_md2(const uint8_t *key, size_t key_bytes, const uint8_t *data, size_t bytes, uint8_t out[16]);

/* ---- Connection: from an address to an authenticated socket (connect.c) ---- */
/* What further connections of a session show: that they are from whoever opened it. */
struct graft_session_key {
  uint64_t session; /* 0: none yet */
  uint8_t secret[32];
};
/* What a connection is for, as the server is told. */
enum graft_lane { GRAFT_LANE_CALLBACKS, GRAFT_LANE_BULK, GRAFT_LANE_TWINS };
/* A new session, whose key it sets. */
bool graft_connect_session(const struct graft_config *config, struct graft_session_key *key, struct graft_wire *wire, char *reason,
                           size_t size);
/* The same with the first of the configured servers that can be had; says on stderr why one before it cannot. */
bool graft_connect_best(struct graft_config *config, struct graft_session_key *key, struct graft_wire *wire, char *reason,
                        size_t size);
/* One more connection of that session; for bulk data, over what carries the session. */
bool graft_connect_lane(const struct graft_config *config, const struct graft_session_key *key, enum graft_lane lane,
                        struct graft_wire *wire, char *reason, size_t size);

struct graft_transfer;

/* ---- Session: the stream of records over a socket (session.c) ---- */
/* Connects once for the process. 0, or the CUDA error that every call returns from now on. */
int graft_session_open(void);
bool graft_session_is_open(void);
/* Whether threads that wait look, and give way to others, for a while before they sleep. */
bool graft_gives_way(const struct graft_config *config);
/* Whether managed memory is to be the program's or the device's at a time (GRAFT_MANAGED). */
bool graft_managed_is_exclusive(void);
const char *graftChannel(void);

/* The version of Graft that this client came with. */
const char *graftVersion(void);
/* GRAFT_DEBUG: 1 says what is missing, 2 each call. */
int graft_debug(void);
/* One line on stderr. */
void graft_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Names memory that a read's bulk data may be written to; the identity goes into graftReadAsync. */
uint64_t graft_read_expect(void *to, size_t bytes);
void graft_read_forget(uint64_t read);
/* Whether data of such a read is still to come into this memory. */
bool graft_read_pending(const void *memory, size_t bytes);
/* Returns when there is none any more. False once the session is dead. */
bool graft_reads_await(const void *memory, size_t bytes);
/* The memory of the calling thread's next call's bulk data stays as it is until the stream has come to the call. */
void graft_outgoing_stays(void);
/* Names where the data goes that the calling thread's next call that waits brings (graftRead and the like). */
void graft_incoming(void *to, size_t bytes);
/* Reads one answer for whoever it is for, or sleeps while another thread reads. False once the session is dead. */
bool graft_listen(void);
/* One more connection of the session, -1 if there is none to be had. */
int graft_session_connect(enum graft_lane lane);
/* Opens the connection for what must not wait behind the session's records. */
bool graft_lane_open(void);
/* Tells the server on it that a host function has run. False if there is no such connection. */
bool graft_lane_done(uint64_t callback);
/* The stream has come to a host function (hostfunc.c). False if there is none of this identity. */
bool graft_callback_arrived(uint64_t identity);
/* Enters a host function that a graph's node runs at each launch; its identity, 0 if there is no memory. */
uint64_t graft_callback_of_graph(void *function, void *data);
/* Whether host functions are in streams or graphs that have not run, or may run again. */
bool graft_callbacks_may_come(void);
/* Ends the session: what it was, told once. */
void graft_die(const char *what, int error);
/* 0, or the error that every call returns since the session ended. */
int graft_dead(void);
/* Where a piece of a read goes; NULL if nobody asked for it. Waits if it came on a lane and others are to be there before.
 * Then says that it is there. */
uint8_t *graft_read_place(uint64_t read, uint64_t offset, uint64_t bytes, bool on_lane);
void graft_read_arrived(uint64_t read, uint64_t bytes);

/* ---- Reads: what the program has asked for and does not have yet (reads.c). The caller sees to it that one thread is there ---- */
struct graft_read {
  struct graft_read *next, *next_meeting;
  bool meets; /* may go where another goes */
  uint64_t identity;
  uint8_t *to;
  size_t bytes;
  size_t announced, arrived; /* by answers; in memory. A lane may be ahead of its answer */
  int writers;               /* threads that receive into it */
};
void graft_reads_add(struct graft_read *read);
/* NULL if there is none. */
struct graft_read *graft_reads_find(uint64_t identity);
void graft_reads_remove(struct graft_read *read);
/* Whether any, or any but that one, goes there; the memory is within it. */
bool graft_reads_meet(const struct graft_read *but, const void *memory, size_t bytes);
/* Any thread may ask. */
size_t graft_reads_count(void);

/* ---- Lanes: connections for bulk data beside the stream of records (lanes.c) ---- */
/* From here on bulk data travels on lanes. */
#define GRAFT_LANE_LEAST (512u << 10)
/* Opens them the first time. False if there are none. */
bool graft_lanes_ready(const struct graft_config *config, const struct graft_session_key *key);
/* Sends the data of a transfer, whose numbers must rise from call to call, in the background. To be waited for, unless
 * the memory stays. NULL if it was so already, or if there is no memory (then the session is dead). */
struct graft_transfer *graft_lanes_send(uint64_t number, const void *data, size_t bytes, bool stays);
/* Returns when the data has been read. */
void graft_lanes_wait(struct graft_transfer *transfer);
/* Ends the connections, and so what their threads wait for. */
void graft_lanes_shutdown(void);

/* ---- Objects (objects.c) ---- */
struct graft_layout {
  uint32_t count;
  uint32_t total;
  struct {
    uint32_t offset, size;
  } parameter[];
};

struct graft_storage;
struct graft_held;
struct graft_node_parameters;

struct graft_object {
  uint32_t magic;
  uint16_t kind;
  bool per_thread;
  uint32_t id;
  struct graft_object *next;
  struct graft_object *same; /* belongs to objects.c */
  union {
    struct {
      int device;
      bool primary;
      bool destroyed;
      bool busy; /* work was queued since the legacy stream was last waited for: read and written without a lock */
      unsigned flags;
      uint64_t serial;
      struct graft_storage *storage;
      unsigned limits_known;
      struct {
        size_t value;
        int result;
      } limits[GRAFT_LIMITS];
    } context;
    struct {
      struct graft_object *library; /* module or library it came from */
      char *name;
      struct graft_layout *layout;
      bool is_kernel;
      pthread_mutex_t lock;
      struct graft_facts *facts; /* of each device that was asked about */
    } function;
    struct {
      unsigned flags;
      int priority;
      struct graft_object *context;
      uint64_t serial;
    } stream;
    struct {
      bool shared; /* with other processes */
    } event;
    struct {
      struct graft_object *functions;
      struct graft_object *module;
      pthread_mutex_t lock;
    } library;
    struct {
      struct graft_object *nodes; /* that the program knows, by next */
      struct graft_held *held;    /* user objects */
    } graph;
    struct {
      struct graft_held *held;
    } exec;
    struct {
      struct graft_object *graph;
      struct graft_node_parameters *parameters; /* as the program gave them; NULL for a node of a capture until asked */
    } node;
    struct {
      char *info, *error;
      size_t info_room, error_room;
      void **info_size, **error_size;
      void *image;
      struct graft_link_inputs *inputs; /* NULL if the compute cache has no part in it */
    } link;
    struct {
      void (*destroy)(void *data);
      void *data;
      unsigned count;
    } userobject;
  } u;
};

/* The object behind a handle, or NULL if it is none of that kind. */
struct graft_object *graft_object(int kind, const void *handle);
/* An object without an id of its own. */
struct graft_object *graft_object_shell(int kind);
/* Finds or makes the object for an id that the server gave. */
void *graft_object_adopt(int kind, uint64_t id);

/* ---- Threads and contexts (context.c) ---- */
struct graft_object *graft_context_current(void);
/* The current context, or the error that CUDA gives without one. */
int graft_context_need(struct graft_object **context);
/* After a call that waited: a sticky error (CUDA driver API, CUresult) is every later answer of the device's contexts. */
void graft_context_answered(int result);
/* The current context's sticky error, or 0. */
int graft_context_fault(void);
/* 0 once cuInit has succeeded, unless the current context has failed. */
int graft_usable(void);
uint32_t graft_context_id(void);
/* The handle of a device's primary context, active or not. */
int graft_primary_context(int device, void **context);
/* The stream that a handle means: maps 0, legacy and per-thread. */
int graft_stream_id(const void *handle, uint64_t *id);
bool graft_in_child(void);
/* Whether what is queued in a stream becomes nodes of a graph (stream.c). Asks the server only while a capture is under way. */
bool graft_stream_captures(void *stream);
/* Returns when everything that work queued in a stream now would wait for is over: then this thread may do it. */
int graft_stream_reach(void *stream);
/* Work behind this in the stream finds mirrored memory as the program has left it when the stream comes here. */
int graft_stream_look(void *stream);
/* Work was queued in the calling thread's context that the program has not waited for. */
static inline void graft_context_set_busy(void) {
  struct graft_object *context = graft_context_current();
  if (!__atomic_load_n(&context->u.context.busy, __ATOMIC_RELAXED)) {
    __atomic_store_n(&context->u.context.busy, true, __ATOMIC_RELAXED);
  }
}
/* Whether streams have been told to wait for values, which the program may write at any time. */
bool graft_values_are_waited_for(void);

/* ---- Devices (device.c) ---- */
struct graft_device {
  uint64_t total_memory;
  uint8_t uuid[16];
  char name[256];
  int priority_low, priority_high;
  int attributes[GRAFT_ATTRIBUTES];
  uint32_t attribute_count;
};
int graft_device_count(void);
const struct graft_device *graft_device(int index);
int graft_driver_version(void);
/* The owner's driver as tools print it, "" if it has none. */
const char *graft_driver_text(void);
/* Reads the snapshot; called once by the session's opening. */
int graft_devices_load(void);

/* ---- Memory ranges (ranges.c): what a pointer is ---- */
enum graft_memory {
  GRAFT_MEMORY_NONE,
  GRAFT_MEMORY_DEVICE,
  GRAFT_MEMORY_PINNED,
  GRAFT_MEMORY_REGISTERED,
  GRAFT_MEMORY_MANAGED,
  GRAFT_MEMORY_ALIAS, /* where the device has a mirror of pinned or registered memory that the program has elsewhere */
};
/* Advice about managed memory (managed.c); places are devices, -1 the host, -2 none. */
struct graft_hints {
  bool read_mostly, fetched;
  int home, reader, fetched_to;
};
struct graft_range {
  uint64_t base;
  uint64_t bytes;
  enum graft_memory memory;
  unsigned flags;
  int device;
  struct graft_object *context;
  uint64_t serial;
  unsigned opened; /* another process's, and how many times it was opened */
  bool of_graph; /* comes and goes with the launches of a graph */
  uint64_t view; /* of host memory: where the device has it, 0 while it has not. Of an alias: where the program has it */
  bool shared;   /* program and device have one memory there, no mirror */
  bool synchronous; /* SYNC_MEMOPS: copies and fills that are not asynchronous are waited for */
  struct graft_hints hints;
};
void graft_range_add(const struct graft_range *range);
bool graft_range_remove(uint64_t base, enum graft_memory memory, struct graft_range *out);
/* Forgets device memory that lies within. */
void graft_range_remove_within(uint64_t base, uint64_t bytes);
bool graft_range_find(uint64_t address, struct graft_range *out);
void graft_range_hint(uint64_t base, const struct graft_hints *hints);
void graft_range_synchronous(uint64_t base, bool synchronous);
/* From now on the device has host memory there. */
void graft_range_view(uint64_t base, uint64_t view);

/* ---- Code (module.c, code.c) ---- */
/* Whether the server has this code, so that its hash will do. */
bool graft_code_is_known(const void *data, size_t bytes, uint8_t hash[32]);
/* Length of an image: fatbin, ELF or PTX text. 0 if it is none of them. */
size_t graft_image_size(const void *image);
/* Takes the wrapper off. */
const void *graft_image_unwrap(const void *image);
int graft_function_attribute(struct graft_object *function, int attribute, int device, int *value);

/* ---- Statistics (stats.c) ---- */
void graft_stats_call(int function, size_t bytes, size_t bulk);
void graft_stats_round_trip(int function, uint64_t nanoseconds);
void graft_stats_received(size_t bytes);
void graft_stats_enable(void);

/* ---- Where the time goes (profile.c) ---- */
extern bool graft_profiling;
/* Turns it on if GRAFT_PROFILE names a file. */
void graft_profile_enable(void);
/* A call is made; one that waited is over. */
void graft_profile_call(int function);
void graft_profile_waited(int function);
/* Around a copy between host and device; the second waits until it is over. */
uint64_t graft_profile_transfer_begin(void);
void graft_profile_transfer_end(uint64_t start, bool to_device, const void *host, size_t bytes);

uint64_t graft_now(void);
/* A thread of our own: detached, small, and deaf to the program's signals. */
bool graft_start_thread(void *(*run)(void *), void *argument);
/* Whether it is one of them, or a thread of the program's within a call that others wait for. */
bool graft_thread_is_ours(pid_t thread);

#endif

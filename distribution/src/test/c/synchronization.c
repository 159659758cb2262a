/* Tests every statement of the CUDA driver API's pages "API synchronization behavior" and "Stream synchronization behavior":
 * which calls return after their work is done, and which return before. A gate blocks a stream. A call that is documented as
 * synchronous must return only after the gate is open, with the data complete; a call that is documented as asynchronous
 * must return while the gate is closed, before the data is complete. For statements with "may", only the data is checked,
 * and the behaviour of the call is printed.
 *
 * Prints a line for each check, "name: ok, BEHAVIOUR" or "name: FAILED REASON", and the counts. Built with gcc alone; runs
 * against any driver. SYNCHRONIZATION_GATE=value blocks streams by a value that they wait for instead of a host function;
 * SYNCHRONIZATION_REPEATS is the number of times that each synchronous call is made without a gate (200). */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

typedef uint64_t u64;
typedef void *h; /* a handle */

#define LARGE (256u << 10) /* more than the driver stages from pageable memory at once */
#define SMALL (4u << 10)
#define ROWS 16u
#define NOT_READY 600
#define PATIENCE 20000 /* milliseconds that a call that must not wait may take on a busy machine */
#define LEGACY ((h)1)
#define PER_THREAD ((h)2)

static void *driver;
#define FUNCTION(name, parameters) ((int(*) parameters)entry(#name))
#define CHECK(name, parameters, arguments) must(#name, FUNCTION(name, parameters) arguments)

static void *entry(const char *name) {
  void *found = dlsym(driver, name);
  if (!found) {
    printf("no function %s\n", name);
    exit(2);
  }
  return found;
}

static void must(const char *name, int result) {
  if (!result) return;
  printf("%s answers %d\n", name, result);
  exit(2);
}

static int repeats = 200; /* repetitions of a synchronous call without a gate */
static h context, blocking, other, nonblocking, opener, reader, store;

/* ---- Checks ---- */

static int checks, failures;
static char name[160];

static void verdict(bool ok, const char *what) {
  checks++;
  if (!ok) failures++;
  printf("%s: %s%s%s\n", name, ok ? "ok" : "FAILED", *what ? ok ? ", " : " " : "", what);
  fflush(stdout);
  alarm(60);
}

static void hung(int signal) {
  (void)signal;
  static const char text[] = ": FAILED hangs\n";
  if (write(1, name, strlen(name)) < 0 || write(1, text, sizeof text - 1) < 0) _exit(3);
  _exit(1);
}

/* ---- The gate ---- */

static struct {
  pthread_mutex_t lock;
  pthread_cond_t wake;
  bool by_value, open;
  u64 flag; /* device memory */
  unsigned value;
} gate = {.lock = PTHREAD_MUTEX_INITIALIZER, .wake = PTHREAD_COND_INITIALIZER};

static void await_gate(void *unused) {
  (void)unused;
  pthread_mutex_lock(&gate.lock);
  while (!gate.open) pthread_cond_wait(&gate.wake, &gate.lock);
  pthread_mutex_unlock(&gate.lock);
}

static void close_gate(h stream) {
  gate.open = false;
  gate.value++;
  if (gate.by_value) {
    CHECK(cuStreamWaitValue32_v2, (h, u64, unsigned, unsigned), (stream, gate.flag, gate.value, 0));
  } else {
    CHECK(cuLaunchHostFunc, (h, void (*)(void *), void *), (stream, await_gate, NULL));
  }
}

static void open_gate(void) {
  pthread_mutex_lock(&gate.lock);
  if (!gate.open && gate.by_value) {
    CHECK(cuStreamWriteValue32_v2, (h, u64, unsigned, unsigned), (opener, gate.flag, gate.value, 0));
  }
  gate.open = true;
  pthread_cond_broadcast(&gate.wake);
  pthread_mutex_unlock(&gate.lock);
}

static bool is_open(void) {
  pthread_mutex_lock(&gate.lock);
  bool open = gate.open;
  pthread_mutex_unlock(&gate.lock);
  return open;
}

/* Opens the gate after a delay, unless the call returned earlier and stopped the timer. */
static struct {
  pthread_mutex_t lock;
  pthread_cond_t wake;
  pthread_t thread;
  bool stopped;
  long milliseconds;
} later = {.lock = PTHREAD_MUTEX_INITIALIZER, .wake = PTHREAD_COND_INITIALIZER};

static void *open_later(void *unused) {
  struct timespec until;
  CHECK(cuCtxSetCurrent, (h), (context));
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_nsec += later.milliseconds % 1000 * 1000000;
  until.tv_sec += later.milliseconds / 1000 + until.tv_nsec / 1000000000;
  until.tv_nsec %= 1000000000;
  pthread_mutex_lock(&later.lock);
  int r = 0;
  while (!later.stopped && !r) r = pthread_cond_timedwait(&later.wake, &later.lock, &until);
  bool stopped = later.stopped;
  pthread_mutex_unlock(&later.lock);
  if (!stopped) open_gate();
  return unused;
}

static void begin_opening(long milliseconds) {
  later.stopped = false;
  later.milliseconds = milliseconds;
  if (pthread_create(&later.thread, NULL, open_later, NULL)) exit(2);
}

static void stop_opening(void) {
  pthread_mutex_lock(&later.lock);
  later.stopped = true;
  pthread_cond_signal(&later.wake);
  pthread_mutex_unlock(&later.lock);
  pthread_join(later.thread, NULL);
}

/* ---- Memory ---- */

enum kind { PAGEABLE, PINNED, MAPPED, REGISTERED, MANAGED, DEVICE, ARRAY, KINDS };
static const char *const kinds[] = {"pageable", "pinned", "mapped", "registered", "managed", "device", "array"};
/* Two allocations of each kind, so that a copy has a source and a target. */
static struct memory {
  enum kind kind;
  uint8_t *host; /* NULL if the program cannot access the memory */
  u64 address;   /* for calls that take a device pointer */
  h array;
} memories[KINDS][2];

#define ARRAY_BYTES (32u << 10)

static void allocate(struct memory *m) {
  static const struct {
    size_t width, height;
    int format;
    unsigned channels;
  } array = {ARRAY_BYTES, 0, 1, 1}; /* bytes, one dimension */
  switch (m->kind) {
    case PAGEABLE:
    case REGISTERED:
      m->host = mmap(NULL, LARGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      if (m->host == MAP_FAILED) exit(2);
      if (m->kind == REGISTERED) CHECK(cuMemHostRegister_v2, (h, size_t, unsigned), (m->host, LARGE, 0));
      break;
    case PINNED: CHECK(cuMemHostAlloc, (uint8_t **, size_t, unsigned), (&m->host, LARGE, 0)); break;
    case MAPPED: CHECK(cuMemHostAlloc, (uint8_t **, size_t, unsigned), (&m->host, LARGE, 2)); break;
    case MANAGED:
      CHECK(cuMemAllocManaged, (u64 *, size_t, unsigned), (&m->address, LARGE, 1));
      m->host = (uint8_t *)(uintptr_t)m->address;
      break;
    case DEVICE: CHECK(cuMemAlloc_v2, (u64 *, size_t), (&m->address, LARGE)); break;
    default: CHECK(cuArrayCreate_v2, (h *, const void *), (&m->array, &array));
  }
  if (m->kind == MAPPED) {
    CHECK(cuMemHostGetDevicePointer_v2, (u64 *, h, unsigned), (&m->address, m->host, 0));
  } else if (m->host) {
    m->address = (uintptr_t)m->host;
  }
}

static void synchronize(void) { CHECK(cuCtxSynchronize, (void), ()); }

static void set(struct memory *m, int value) {
  if (m->host) {
    memset(m->host, value, LARGE);
  } else if (m->array) {
    uint8_t bytes[ARRAY_BYTES];
    memset(bytes, value, sizeof bytes);
    CHECK(cuMemcpyHtoA_v2, (h, size_t, void *, size_t), (m->array, 0, bytes, sizeof bytes));
    synchronize();
  } else {
    CHECK(cuMemsetD8_v2, (u64, unsigned char, size_t), (m->address, (unsigned char)value, LARGE));
    synchronize();
  }
}

/* ---- Calls ---- */

enum call { LINEAR, UNIFIED, ROWS_2D, ROWS_3D, D8, D16, D32, D2D8, D2D16, D2D32 };
enum form { PLAIN, PLAIN_PER_THREAD, ASYNC, ASYNC_PER_THREAD };

struct work {
  enum call call;
  enum form form;
  struct memory *to, *from; /* a fill has no source */
  size_t bytes;             /* the whole extent; calls with rows use every other half row */
  h stream;                 /* used by asynchronous forms */
};

/* Allocates pinned and registered memory again, since earlier work may have mapped it on the device. */
static void renew(struct memory *m) {
  if (m->kind == PINNED) {
    CHECK(cuMemFreeHost, (h), (m->host));
    allocate(m);
  } else if (m->kind == REGISTERED) {
    CHECK(cuMemHostUnregister, (h), (m->host));
    munmap(m->host, LARGE);
    allocate(m);
  }
}

static bool has_rows(const struct work *w) { return w->call == ROWS_2D || w->call == ROWS_3D || w->call >= D2D8; }
static bool is_async(const struct work *w) { return w->form >= ASYNC; }

struct copy3d {
  size_t src_x, src_y, src_z, src_lod;
  unsigned src_type;
  const void *src_host;
  u64 src_device;
  void *src_array, *reserved0;
  size_t src_pitch, src_height, dst_x, dst_y, dst_z, dst_lod;
  unsigned dst_type;
  void *dst_host;
  u64 dst_device;
  void *dst_array, *reserved1;
  size_t dst_pitch, dst_height, width, height, depth;
};
struct copy2d {
  size_t src_x, src_y;
  unsigned src_type;
  const void *src_host;
  u64 src_device;
  void *src_array;
  size_t src_pitch, dst_x, dst_y;
  unsigned dst_type;
  void *dst_host;
  u64 dst_device;
  void *dst_array;
  size_t dst_pitch, width, height;
};

static char letter(const struct memory *m) { return m->kind == ARRAY ? 'A' : m->kind <= REGISTERED ? 'H' : 'D'; }

/* The function's name: its symbol's _v2 and its variant for the per-thread default stream. */
static void name_of(const struct work *w, char *symbol, size_t size) {
  static const char *const fills[] = {"D8", "D16", "D32", "D2D8", "D2D16", "D2D32"};
  char base[64];
  switch (w->call) {
    case LINEAR: snprintf(base, sizeof base, "cuMemcpy%cto%c", letter(w->from), letter(w->to)); break;
    case UNIFIED: snprintf(base, sizeof base, "cuMemcpy"); break;
    case ROWS_2D: snprintf(base, sizeof base, "cuMemcpy2D"); break;
    case ROWS_3D: snprintf(base, sizeof base, "cuMemcpy3D"); break;
    default: snprintf(base, sizeof base, "cuMemset%s", fills[w->call - D8]);
  }
  bool versioned = w->call != UNIFIED && (w->call < D8 || !is_async(w));
  static const char *const variants[] = {"", "_ptds", "", "_ptsz"};
  snprintf(symbol, size, "%s%s%s%s", base, is_async(w) ? "Async" : "", versioned ? "_v2" : "", variants[w->form]);
}

static int linear(const struct work *w, void *function) {
  u64 to = w->to->kind <= REGISTERED ? (uintptr_t)w->to->host : w->to->address;
  u64 from = w->from->kind <= REGISTERED ? (uintptr_t)w->from->host : w->from->address;
  if (w->call == UNIFIED) {
    to = w->to->address;
    from = w->from->address;
  }
  if (w->to->array) {
    return is_async(w) ? ((int (*)(h, size_t, u64, size_t, h))function)(w->to->array, 0, from, w->bytes, w->stream)
                       : ((int (*)(h, size_t, u64, size_t))function)(w->to->array, 0, from, w->bytes);
  }
  if (w->from->array) {
    return is_async(w) ? ((int (*)(u64, h, size_t, size_t, h))function)(to, w->from->array, 0, w->bytes, w->stream)
                       : ((int (*)(u64, h, size_t, size_t))function)(to, w->from->array, 0, w->bytes);
  }
  return is_async(w) ? ((int (*)(u64, u64, size_t, h))function)(to, from, w->bytes, w->stream)
                     : ((int (*)(u64, u64, size_t))function)(to, from, w->bytes);
}

static int rows(const struct work *w, void *function) {
  size_t pitch = w->bytes / ROWS;
  unsigned from_type = w->from->kind <= REGISTERED ? 1 : 2, to_type = w->to->kind <= REGISTERED ? 1 : 2;
  struct copy2d two = {.src_type = from_type, .src_host = w->from->host, .src_device = w->from->address, .src_pitch = pitch,
                       .dst_type = to_type, .dst_host = w->to->host, .dst_device = w->to->address, .dst_pitch = pitch,
                       .width = pitch / 2, .height = ROWS};
  struct copy3d three = {.src_type = from_type, .src_host = w->from->host, .src_device = w->from->address, .src_pitch = pitch,
                         .src_height = ROWS / 2, .dst_type = to_type, .dst_host = w->to->host, .dst_device = w->to->address,
                         .dst_pitch = pitch, .dst_height = ROWS / 2, .width = pitch / 2, .height = ROWS / 2, .depth = 2};
  void *p = w->call == ROWS_2D ? (void *)&two : (void *)&three;
  return is_async(w) ? ((int (*)(void *, h))function)(p, w->stream) : ((int (*)(void *))function)(p);
}

static int fill(const struct work *w, void *function, unsigned value) {
  u64 to = w->to->address;
  unsigned size = 1u << (w->call - D8) % 3, word = value * (size == 1 ? 1u : size == 2 ? 0x101u : 0x1010101u);
  size_t pitch = w->bytes / ROWS, count = has_rows(w) ? pitch / 2 / size : w->bytes / size;
  if (has_rows(w)) {
    return is_async(w) ? ((int (*)(u64, size_t, unsigned, size_t, size_t, h))function)(to, pitch, word, count, ROWS, w->stream)
                       : ((int (*)(u64, size_t, unsigned, size_t, size_t))function)(to, pitch, word, count, ROWS);
  }
  return is_async(w) ? ((int (*)(u64, unsigned, size_t, h))function)(to, word, count, w->stream)
                     : ((int (*)(u64, unsigned, size_t))function)(to, word, count);
}

static void call(const struct work *w, int value) {
  static char symbol[96];
  static void *function;
  static struct work last;
  if (memcmp(&last, w, sizeof last)) { /* look the function up once for repeated calls */
    name_of(w, symbol, sizeof symbol);
    function = entry(symbol);
    last = *w;
  }
  must(symbol, w->call >= D8                              ? fill(w, function, (unsigned)value)
               : w->call == ROWS_2D || w->call == ROWS_3D ? rows(w, function)
                                                          : linear(w, function));
}

static bool holds_bytes(const struct work *w, const uint8_t *memory, int value) {
  size_t pitch = has_rows(w) ? w->bytes / ROWS : w->bytes, width = has_rows(w) ? pitch / 2 : pitch;
  for (size_t row = 0; row < w->bytes; row += pitch) {
    if (memory[row] != value || memcmp(memory + row, memory + row + 1, width - 1)) return false;
  }
  return true;
}

/* Whether the target holds the value. Device memory is read in a stream that does not wait for others. */
static bool holds(const struct work *w, int value) {
  static uint8_t *bounce;
  if (w->to->host) return holds_bytes(w, w->to->host, value);
  if (!bounce) CHECK(cuMemHostAlloc, (uint8_t **, size_t, unsigned), (&bounce, LARGE, 0));
  if (w->to->array) {
    CHECK(cuMemcpyAtoHAsync_v2, (void *, h, size_t, size_t, h), (bounce, w->to->array, 0, w->bytes, reader));
  } else {
    CHECK(cuMemcpyDtoHAsync_v2, (void *, u64, size_t, h), (bounce, w->to->address, w->bytes, reader));
  }
  CHECK(cuStreamSynchronize, (h), (reader));
  return holds_bytes(w, bounce, value);
}

/* ---- What is documented ---- */

enum documented {
  WAITS,      /* synchronous: when the call returns, the gate is open and the data complete */
  RETURNS,    /* asynchronous: the call returns before the gate opens and the data is complete */
  PASSES,     /* synchronous without waiting for that stream: the gate is closed and the data complete */
  MAY_WAIT    /* either: the data is complete after a wait for the stream */
};

static int value = 1;

static void next_value(void) { value = value % 200 + 1; }

static void prepare(const struct work *w) {
  next_value();
  set(w->to, 255);
  if (w->from) set(w->from, value);
}

/* "The DMA to final destination may not have completed." */
static bool may_come_later(const struct work *w) { return w->from && w->from->kind == PAGEABLE && !w->to->host; }

static void repeat(const struct work *w) {
  int stale = 0;
  for (int i = 0; i < repeats; i++) {
    prepare(w);
    call(w, value);
    if (may_come_later(w)) synchronize();
    stale += !holds(w, value);
  }
  char text[64];
  snprintf(text, sizeof text, "%d of %d are stale", stale, repeats);
  if (stale) verdict(false, text);
}

static const char *stream_name(h stream) {
  return stream == blocking       ? "a blocking stream"
         : stream == other        ? "another blocking stream"
         : stream == nonblocking  ? "a non-blocking stream"
         : stream == PER_THREAD   ? "the per-thread stream"
                                  : "the legacy stream";
}

/* One call behind a gate in a stream. */
static void try(struct work w, h closed, enum documented documented) {
  static const char *const words[] = {"waits", "returns at once", "does not wait for it", "may wait"};
  char symbol[96];
  name_of(&w, symbol, sizeof symbol);
  snprintf(name, sizeof name, "%s %s%s%s %u KiB%s%s, gate in %s, %s", symbol, w.from ? kinds[w.from->kind] : "", w.from ? " to " : "",
           kinds[w.to->kind], (unsigned)(w.bytes >> 10), is_async(&w) ? " in " : "",
           is_async(&w) ? w.form == ASYNC_PER_THREAD ? "its default stream" : stream_name(w.stream) : "", stream_name(closed),
           words[documented]);
  renew(w.to);
  if (w.from) renew(w.from);
  if (!is_async(&w) && (documented == WAITS || documented == PASSES)) {
    int before = failures;
    repeat(&w);
    if (failures > before) return;
  }
  prepare(&w);
  synchronize();
  close_gate(closed);
  begin_opening(documented == WAITS || documented == MAY_WAIT ? 30 : PATIENCE);
  call(&w, value);
  bool waited = is_open(), there = true, early = false;
  if ((documented == WAITS || documented == PASSES) && !may_come_later(&w)) there = holds(&w, value);
  /* The program may read shared memory while the device works on it, but not managed memory on every system. */
  if (documented == RETURNS && !waited) early = w.to->kind != MANAGED && holds(&w, value) && !is_open();
  /* The timer may open the gate between the call's end and the query: then an idle stream says nothing. */
  bool pending = waited || FUNCTION(cuStreamQuery, (h))(closed) == NOT_READY || is_open();
  /* Once the call has returned, changes of a pageable source must not affect the copy. */
  if (w.from && w.from->kind == PAGEABLE) memset(w.from->host, 254, LARGE);
  stop_opening();
  open_gate();
  synchronize();
  bool right = holds(&w, value);
  char text[96] = "";
  bool expected = documented == WAITS ? waited : documented == MAY_WAIT ? true : !waited;
  if (!expected) {
    snprintf(text, sizeof text, "%s", waited ? "it waited for the gate" : "it returned while the gate was closed");
  } else if (!there) {
    snprintf(text, sizeof text, "the data is not there when it returns");
  } else if (early) {
    snprintf(text, sizeof text, "the data came through the closed gate");
  } else if (!right) {
    snprintf(text, sizeof text, "the data is wrong at the end");
  } else if (!pending && !waited) {
    snprintf(text, sizeof text, "the closed stream is idle");
  }
  bool ok = !*text;
  if (ok) snprintf(text, sizeof text, "%s", waited ? "waited" : "returned at once");
  verdict(ok, text);
}

/* ---- Memcpy ---- */

static bool is_pinned(enum kind kind) { return kind == PINNED || kind == MAPPED || kind == REGISTERED; }
static bool is_host(enum kind kind) { return kind <= REGISTERED; }

/* The page's statements on synchronous copies. Since CUDA 12 none of them covers managed memory; its data must be complete. */
static enum documented of_plain(const struct work *w) {
  enum kind from = w->from->kind, to = w->to->kind;
  if (is_host(from) && is_host(to)) return WAITS;
  if (from == MANAGED || to == MANAGED) return to == MANAGED || is_host(to) ? WAITS : MAY_WAIT;
  if (is_host(to)) return WAITS;
  /* "A stream sync is performed before the copy is initiated"; up to 64 KiB are asynchronous (CUDA C++ Programming Guide). */
  if (from == PAGEABLE) return w->bytes <= 64u << 10 ? MAY_WAIT : WAITS;
  if (is_pinned(from)) return WAITS;
  return RETURNS;
}

static enum documented of_async(const struct work *w) {
  enum kind from = w->from->kind, to = w->to->kind;
  if (is_host(from) && is_host(to)) return WAITS;
  if (from == PAGEABLE || to == PAGEABLE || from == MANAGED || to == MANAGED) return MAY_WAIT;
  return RETURNS;
}

static void copies(void) {
  static const enum kind all[] = {PAGEABLE, PINNED, MAPPED, REGISTERED, MANAGED, DEVICE};
  static const enum call calls[] = {LINEAR, UNIFIED, ROWS_2D, ROWS_3D};
  for (unsigned c = 0; c < 4; c++) {
    for (unsigned i = 0; i < 6; i++) {
      for (unsigned j = 0; j < 6; j++) {
        struct work w = {.call = calls[c], .to = &memories[all[j]][0], .from = &memories[all[i]][1], .bytes = LARGE};
        if (c == 0 && is_host(all[i]) && is_host(all[j])) continue; /* no such function */
        if (c == 0 && (all[i] == MANAGED || all[j] == MANAGED) && i == j) continue;
        w.form = PLAIN;
        try(w, LEGACY, of_plain(&w));
        w.form = ASYNC;
        w.stream = blocking;
        try(w, blocking, of_async(&w));
      }
    }
  }
  struct work small = {.call = LINEAR, .to = &memories[DEVICE][0], .from = &memories[PAGEABLE][1], .bytes = SMALL};
  try(small, LEGACY, of_plain(&small));
  small.from = &memories[PINNED][1];
  try(small, LEGACY, of_plain(&small));
  small.form = ASYNC;
  small.stream = nonblocking;
  try(small, nonblocking, of_async(&small));
  small.from = &memories[PAGEABLE][1];
  try(small, nonblocking, of_async(&small));
}

/* One call for each statement, stream and kind of entry point. */
static void copies_by_stream(void) {
  static const enum kind pairs[][2] = {{DEVICE, PINNED}, {PINNED, DEVICE}, {DEVICE, MAPPED}, {DEVICE, REGISTERED}, {REGISTERED, DEVICE},
                                       {DEVICE, PAGEABLE}, {PAGEABLE, DEVICE}, {DEVICE, DEVICE}};
  for (unsigned i = 0; i < sizeof pairs / sizeof *pairs; i++) {
    struct work w = {.call = LINEAR, .from = &memories[pairs[i][0]][1], .to = &memories[pairs[i][1]][0], .bytes = LARGE};
    w.form = PLAIN;
    enum documented plain = of_plain(&w), async = of_async(&w);
    try(w, blocking, plain);
    if (plain == WAITS) try(w, nonblocking, PASSES);
    w.form = PLAIN_PER_THREAD;
    try(w, PER_THREAD, plain);
    try(w, LEGACY, plain);
    if (plain == WAITS) try(w, blocking, PASSES);
    w.form = ASYNC;
    h streams[] = {LEGACY, PER_THREAD, nonblocking, NULL};
    for (unsigned s = 0; s < 4; s++) {
      w.stream = streams[s];
      try(w, streams[s] ? streams[s] : LEGACY, async);
    }
    w.stream = NULL;
    w.form = ASYNC_PER_THREAD;
    try(w, PER_THREAD, async);
  }
}

static void array_copies(void) {
  static const enum kind all[] = {PAGEABLE, PINNED, REGISTERED, DEVICE};
  for (unsigned i = 0; i < 4; i++) {
    struct work w = {.call = LINEAR, .from = &memories[all[i]][1], .to = &memories[ARRAY][0], .bytes = ARRAY_BYTES};
    try(w, LEGACY, of_plain(&w));
    struct work back = {.call = LINEAR, .from = &memories[ARRAY][1], .to = &memories[all[i]][0], .bytes = ARRAY_BYTES};
    try(back, LEGACY, of_plain(&back));
    if (all[i] == DEVICE) continue; /* the driver has no asynchronous form */
    w.form = back.form = ASYNC;
    w.stream = back.stream = nonblocking;
    try(w, nonblocking, of_async(&w));
    try(back, nonblocking, of_async(&back));
  }
}

/* ---- Memset ---- */

static void fills(void) {
  for (enum call c = D8; c <= D2D32; c++) {
    for (enum kind k = PINNED; k <= DEVICE; k++) {
      struct work w = {.call = c, .to = &memories[k][0], .bytes = LARGE};
      try(w, LEGACY, k == DEVICE ? RETURNS : WAITS);
      w.form = ASYNC;
      w.stream = blocking;
      try(w, blocking, RETURNS);
    }
  }
  for (enum kind k = PINNED; k <= DEVICE; k++) {
    struct work w = {.call = D8, .to = &memories[k][0], .bytes = LARGE};
    enum documented plain = k == DEVICE ? RETURNS : WAITS;
    try(w, blocking, plain);
    if (plain == WAITS) try(w, nonblocking, PASSES);
    w.form = PLAIN_PER_THREAD;
    try(w, PER_THREAD, plain);
    w.form = ASYNC;
    h streams[] = {LEGACY, PER_THREAD, nonblocking};
    for (unsigned s = 0; s < 3; s++) {
      w.stream = streams[s];
      try(w, streams[s], RETURNS);
    }
    w.stream = NULL;
    w.form = ASYNC_PER_THREAD;
    try(w, PER_THREAD, RETURNS);
  }
}

/* ---- SYNC_MEMOPS ---- */

static void set_sync(u64 pointer, unsigned on) {
  CHECK(cuPointerSetAttribute, (const void *, int, u64), (&on, 6, pointer));
}

static unsigned get_sync(u64 pointer) {
  unsigned on = 7;
  CHECK(cuPointerGetAttribute, (void *, int, u64), (&on, 6, pointer));
  return on;
}

static void sync_memops(void) {
  struct memory *to = &memories[DEVICE][0], *from = &memories[DEVICE][1];
  unsigned listed = 7;
  int attribute = 6;
  void *data = &listed;
  snprintf(name, sizeof name, "SYNC_MEMOPS reads back what was set");
  unsigned before = get_sync(to->address);
  set_sync(to->address, 1);
  CHECK(cuPointerGetAttributes, (unsigned, int *, void **, u64), (1, &attribute, &data, to->address + 64));
  bool ok = before == 0 && get_sync(to->address) == 1 && get_sync(to->address + 4096) == 1 && listed == 1 && !get_sync(from->address);
  verdict(ok, "");
  struct work w = {.call = D8, .to = to, .bytes = LARGE};
  for (unsigned round = 0; round < 3; round++) {
    /* The attribute is set for the target, for the source, for neither. */
    set_sync(to->address, round == 0);
    set_sync(from->address, round == 1);
    enum documented documented = round < 2 ? WAITS : RETURNS;
    w.call = LINEAR;
    w.from = from;
    try(w, LEGACY, documented);
    w.call = ROWS_2D;
    try(w, LEGACY, documented);
    w.call = D32;
    w.from = NULL;
    if (round != 1) try(w, LEGACY, documented);
    w.call = D2D8;
    if (round != 1) try(w, LEGACY, documented);
  }
  snprintf(name, sizeof name, "SYNC_MEMOPS reads back that it was cleared");
  verdict(!get_sync(to->address) && !get_sync(from->address), "");
}

/* ---- Kernels, and streams among each other ---- */

static const char *const code =
    ".version 7.5\n.target sm_75\n.address_size 64\n"
    ".visible .entry store(.param .u64 p, .param .u32 v) { .reg .b64 %a<3>; .reg .b32 %r<2>;\n"
    "  ld.param.u64 %a1, [p]; cvta.to.global.u64 %a1, %a1; ld.param.u32 %r1, [v]; st.global.u32 [%a1], %r1; ret; }\n";

typedef int launch(h, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, h, void **, void **);

static void store_in(h stream, u64 at, unsigned number) {
  void *parameters[] = {&at, &number};
  must("cuLaunchKernel", ((launch *)entry("cuLaunchKernel"))(store, 1, 1, 1, 1, 1, 1, 0, stream, parameters, NULL));
}

/* Gives a stream that need not wait the time to become idle. */
static bool is_busy(h stream, bool must_wait) {
  for (int i = 0; i < (must_wait ? 100 : PATIENCE / 4); i++) {
    int r = FUNCTION(cuStreamQuery, (h))(stream);
    if (r != NOT_READY) {
      must("cuStreamQuery", r);
      return false;
    }
    usleep(1000);
  }
  return true;
}

/* Launches a kernel in one stream while another is blocked: checks whether the kernel waits, and that the launch does not. */
static void kernel_behind(h closed, h stream, bool waits) {
  struct work w = {.call = LINEAR, .to = &memories[DEVICE][0], .from = NULL, .bytes = 4};
  snprintf(name, sizeof name, "kernel in %s, gate in %s, %s", stream_name(stream), stream_name(closed), waits ? "waits" : "runs");
  set(w.to, 255);
  close_gate(closed);
  begin_opening(PATIENCE);
  store_in(stream, w.to->address, 0x07070707);
  bool returned = !is_open(), busy = is_busy(stream, waits), open = is_open();
  bool early = !busy && !open && holds(&w, 7);
  stop_opening();
  open_gate();
  synchronize();
  verdict(returned && !open && busy == waits && early == !waits && holds(&w, 7),
          !returned ? "the launch waited" : busy != waits ? busy ? "it waits" : "it ran" : "");
}

static void *per_thread_of_another(void *result) {
  CHECK(cuCtxSetCurrent, (h), (context));
  store_in(PER_THREAD, memories[DEVICE][0].address, 9);
  *(bool *)result = is_busy(PER_THREAD, false);
  return NULL;
}

static void streams(void) {
  struct {
    h closed, stream;
    bool waits;
  } lines[] = {
      {blocking, blocking, true},      {nonblocking, nonblocking, true}, {LEGACY, LEGACY, true},         {PER_THREAD, PER_THREAD, true},
      {blocking, LEGACY, true},        {LEGACY, blocking, true},         {blocking, other, false},       {nonblocking, LEGACY, false},
      {blocking, PER_THREAD, false},   {PER_THREAD, blocking, false},    {LEGACY, PER_THREAD, true},     {PER_THREAD, LEGACY, true},
      {nonblocking, PER_THREAD, false}, {PER_THREAD, other, false},
  };
  for (unsigned i = 0; i < sizeof lines / sizeof *lines; i++) kernel_behind(lines[i].closed, lines[i].stream, lines[i].waits);
  h second;
  CHECK(cuStreamCreate, (h *, unsigned), (&second, 1));
  struct work w = {.call = LINEAR, .to = &memories[DEVICE][0], .bytes = 4};
  snprintf(name, sizeof name, "kernel in a non-blocking stream, gate in the legacy stream, runs");
  set(w.to, 255);
  close_gate(LEGACY);
  store_in(second, w.to->address, 0x08080808);
  bool busy = is_busy(second, false);
  open_gate();
  synchronize();
  verdict(!busy && holds(&w, 8), busy ? "it waits" : "");

  snprintf(name, sizeof name, "kernels k1 in a stream, k2 in the legacy stream, k3 in another stream run one after the other");
  set(w.to, 255);
  close_gate(blocking);
  store_in(blocking, w.to->address, 0x01010101);
  store_in(LEGACY, w.to->address, 0x02020202);
  store_in(other, w.to->address, 0x03030303);
  busy = is_busy(other, true);
  open_gate();
  CHECK(cuStreamSynchronize, (h), (other));
  verdict(busy && holds(&w, 3), busy ? "" : "k3 did not wait");

  pthread_t thread;
  bool waits = true;
  snprintf(name, sizeof name, "per-thread streams of two threads do not wait for each other");
  close_gate(PER_THREAD);
  if (pthread_create(&thread, NULL, per_thread_of_another, &waits)) exit(2);
  pthread_join(thread, NULL);
  open_gate();
  synchronize();
  verdict(!waits, "");
}

int main(void) {
  const char *by = getenv("SYNCHRONIZATION_GATE"), *count = getenv("SYNCHRONIZATION_REPEATS");
  driver = dlopen("libcuda.so.1", RTLD_NOW);
  if (!driver) {
    fprintf(stderr, "%s\n", dlerror());
    return 2;
  }
  signal(SIGALRM, hung);
  alarm(60);
  int device;
  h module;
  CHECK(cuInit, (unsigned), (0));
  CHECK(cuDeviceGet, (int *, int), (&device, 0));
  CHECK(cuDevicePrimaryCtxRetain, (h *, int), (&context, device));
  CHECK(cuCtxSetCurrent, (h), (context));
  CHECK(cuModuleLoadData, (h *, const void *), (&module, code));
  CHECK(cuModuleGetFunction, (h *, h, const char *), (&store, module, "store"));
  CHECK(cuStreamCreate, (h *, unsigned), (&blocking, 0));
  CHECK(cuStreamCreate, (h *, unsigned), (&other, 0));
  CHECK(cuStreamCreate, (h *, unsigned), (&nonblocking, 1));
  CHECK(cuStreamCreate, (h *, unsigned), (&opener, 1));
  CHECK(cuStreamCreate, (h *, unsigned), (&reader, 1));
  CHECK(cuMemAlloc_v2, (u64 *, size_t), (&gate.flag, 4096));
  CHECK(cuMemsetD8_v2, (u64, unsigned char, size_t), (gate.flag, 0, 4096));
  for (int i = 0; i < KINDS * 2; i++) {
    memories[i / 2][i % 2].kind = i / 2;
    allocate(&memories[i / 2][i % 2]);
  }
  if (count) repeats = atoi(count);
  gate.by_value = by && !strcmp(by, "value");
  copies();
  copies_by_stream();
  array_copies();
  fills();
  sync_memops();
  streams();
  printf("%d checks, %d failed\n", checks, failures);
  return failures != 0;
}

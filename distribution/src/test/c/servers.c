/* One program on the devices of two servers, the first device of each: each argument names a group of checks. A group prints a line, or
 * the check that failed. Built with gcc alone. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "check.h"

typedef uint64_t address;

int cuInit(unsigned flags);
int cuDeviceGetCount(int *count);
int cuDeviceGetPCIBusId(char *text, int length, int device);
int cuDeviceGetByPCIBusId(int *device, const char *text);
int cuDeviceGetUuid_v2(void *uuid, int device);
int cuDeviceCanAccessPeer(int *can, int device, int peer);
int cuDeviceGetP2PAttribute(int *value, int attribute, int device, int peer);
int cuDevicePrimaryCtxRetain(void **context, int device);
int cuCtxSetCurrent(void *context);
int cuCtxGetDevice(int *device);
int cuCtxSynchronize(void);
int cuCtxEnablePeerAccess(void *peer, unsigned flags);
int cuCtxDisablePeerAccess(void *peer);
int cuMemCreate(uint64_t *handle, size_t bytes, const void *properties, uint64_t flags);
int cuMemRelease(uint64_t handle);
int cuMemAddressReserve(address *at, size_t bytes, size_t alignment, address hint, uint64_t flags);
int cuMemAddressFree(address at, size_t bytes);
int cuMemMap(address at, size_t bytes, size_t offset, uint64_t handle, uint64_t flags);
int cuMemUnmap(address at, size_t bytes);
int cuMemSetAccess(address at, size_t bytes, const void *access, size_t count);
int cuMemRetainAllocationHandle(uint64_t *handle, address at);
int cuModuleLoadData(void **module, const void *image);
int cuModuleGetFunction(void **function, void *module, const char *name);
int cuModuleGetGlobal_v2(address *pointer, size_t *bytes, void *module, const char *name);
int cuLibraryLoadData(void **library, const void *code, void *jit, void **jit_values, unsigned jit_count, void *options,
                      void **values, unsigned count);
int cuLibraryGetKernel(void **kernel, void *library, const char *name);
int cuLibraryUnload(void *library);
int cuMemAlloc_v2(address *pointer, size_t bytes);
int cuMemAllocAsync(address *pointer, size_t bytes, void *stream);
int cuMemFree_v2(address pointer);
int cuMemAllocManaged(address *pointer, size_t bytes, unsigned flags);
int cuMemHostAlloc(void **pointer, size_t bytes, unsigned flags);
int cuMemFreeHost(void *pointer);
int cuMemHostRegister_v2(void *pointer, size_t bytes, unsigned flags);
int cuMemHostUnregister(void *pointer);
int cuMemHostGetDevicePointer_v2(address *device, void *host, unsigned flags);
int cuPointerGetAttribute(void *data, int attribute, address pointer);
int cuMemcpy(address to, address from, size_t bytes);
int cuMemcpyHtoD_v2(address to, const void *from, size_t bytes);
int cuMemcpyHtoDAsync_v2(address to, const void *from, size_t bytes, void *stream);
int cuMemcpyDtoH_v2(void *to, address from, size_t bytes);
int cuMemcpyDtoHAsync_v2(void *to, address from, size_t bytes, void *stream);
int cuMemcpyDtoD_v2(address to, address from, size_t bytes);
int cuMemcpyDtoDAsync_v2(address to, address from, size_t bytes, void *stream);
int cuMemcpyPeer(address to, void *to_context, address from, void *from_context, size_t bytes);
int cuMemcpyPeerAsync(address to, void *to_context, address from, void *from_context, size_t bytes, void *stream);
int cuMemcpy2D_v2(const void *copy);
int cuMemsetD8_v2(address to, unsigned char value, size_t count);
int cuMemsetD32Async(address to, unsigned value, size_t count, void *stream);
int cuStreamCreate(void **stream, unsigned flags);
int cuStreamSynchronize(void *stream);
int cuStreamWaitEvent(void *stream, void *event, unsigned flags);
int cuEventCreate(void **event, unsigned flags);
int cuEventRecord(void *event, void *stream);
int cuEventElapsedTime(float *milliseconds, void *start, void *end);
int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                   unsigned shared, void *stream, void **parameters, void **extra);

static const char PTX[] =
    ".version 6.4\n.target sm_50\n.address_size 64\n"
    ".visible .global .align 4 .u32 number = 5;\n"
    /* Adds to each word, after some work. */
    ".visible .entry add(.param .u64 p, .param .u32 by, .param .u32 work) {\n"
    "  .reg .u64 %rd<4>; .reg .u32 %r<9>; .reg .pred %p<2>;\n"
    "  ld.param.u64 %rd1, [p]; ld.param.u32 %r1, [by]; ld.param.u32 %r2, [work];\n"
    "  mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ntid.x; mov.u32 %r5, %tid.x; mad.lo.u32 %r5, %r3, %r4, %r5;\n"
    "  mul.wide.u32 %rd2, %r5, 4; add.u64 %rd3, %rd1, %rd2; mov.u32 %r7, 0;\n"
    "again: setp.ge.u32 %p1, %r7, %r2; @%p1 bra done;\n"
    "  mad.lo.u32 %r8, %r8, 3, %r7; add.u32 %r7, %r7, 1; bra again;\n"
    "done: ld.global.u32 %r6, [%rd3]; add.u32 %r6, %r6, %r1; st.global.u32 [%rd3], %r6; ret;\n}\n"
    /* Writes by the first of two addresses, and leaves the second, as what a compiler leaves in a structure. */
    ".visible .entry first(.param .align 8 .b8 pair[16]) {\n"
    "  .reg .u64 %rd<2>; .reg .u32 %r<2>;\n"
    "  ld.param.u64 %rd1, [pair]; mov.u32 %r1, 77; st.global.u32 [%rd1], %r1; ret;\n}\n";

enum { INVALID_VALUE = 1, INVALID_DEVICE = 101, PEER_UNSUPPORTED = 217, INVALID_HANDLE = 400, PEER_NOT_ENABLED = 705, NOT_SUPPORTED = 801 };
enum { BLOCK = 64, SLOW = 20000, LARGEST = (33 << 20) + 12 };

static void *context[2], *stream[2], *kernel, *first_of_pair, *library;

static void fail(const char *what, int line) {
  printf("line %d: %s\n", line, what);
  exit(1);
}
#define EXPECT(condition) ((condition) ? (void)0 : fail(#condition, __LINE__))

static void use(int i) { RUN(cuCtxSetCurrent(context[i])); }

static void begin(void) {
  int count;
  RUN(cuInit(0));
  RUN(cuDeviceGetCount(&count));
  EXPECT(count == 2);
  for (int i = 0; i < 2; i++) {
    RUN(cuDevicePrimaryCtxRetain(&context[i], i));
    use(i);
    RUN(cuStreamCreate(&stream[i], 1));
  }
  RUN(cuLibraryLoadData(&library, PTX, NULL, NULL, 0, NULL, NULL, 0));
  RUN(cuLibraryGetKernel(&kernel, library, "add"));
  RUN(cuLibraryGetKernel(&first_of_pair, library, "first"));
}

static address memory(int i, size_t bytes) {
  address made;
  use(i);
  RUN(cuMemAlloc_v2(&made, bytes));
  return made;
}

/* In the current context. */
static void add(address to, unsigned words, unsigned by, unsigned work, void *in) {
  void *parameters[] = {&to, &by, &work};
  RUN(cuLaunchKernel(kernel, words / BLOCK, 1, 1, BLOCK, 1, 1, 0, in, parameters, NULL));
}

static unsigned word(address at) {
  unsigned value;
  RUN(cuMemcpyDtoH_v2(&value, at, sizeof value));
  return value;
}

static void fill(uint8_t *bytes, size_t count, unsigned seed) {
  for (size_t i = 0; i < count; i++) bytes[i] = (uint8_t)((seed = seed * 1103515245 + 12345) >> 16);
}

/* ---- Groups ---- */

static void devices(void) {
  uint8_t uuid[2][16];
  char place[2][20];
  int found, can = 7;
  for (int i = 0; i < 2; i++) {
    RUN(cuDeviceGetUuid_v2(uuid[i], i));
    RUN(cuDeviceGetPCIBusId(place[i], sizeof place[i], i));
    RUN(cuDeviceGetByPCIBusId(&found, place[i]));
    EXPECT(found == i);
    use(i);
    RUN(cuCtxGetDevice(&found));
    EXPECT(found == i);
  }
  EXPECT(memcmp(uuid[0], uuid[1], 16) && strcmp(place[0], place[1]));
  RUN(cuDeviceCanAccessPeer(&can, 0, 1));
  EXPECT(!can);
  can = 7;
  RUN(cuDeviceGetP2PAttribute(&can, 2, 1, 0));
  EXPECT(!can);
  EXPECT(cuDeviceCanAccessPeer(&can, 0, 2) == INVALID_DEVICE);
  EXPECT(cuCtxEnablePeerAccess(context[0], 0) == PEER_UNSUPPORTED && cuCtxDisablePeerAccess(context[0]) == PEER_NOT_ENABLED);
}

/* Addresses of two servers never meet, whatever they are of. */
static void addresses(void) {
  address of[2], async[2], global[2];
  void *module[2], *owner;
  size_t bytes;
  int ordinal;
  for (int i = 0; i < 2; i++) {
    of[i] = memory(i, 1 << 20);
    RUN(cuMemAllocAsync(&async[i], 4096, stream[i]));
    RUN(cuModuleLoadData(&module[i], PTX));
    RUN(cuModuleGetGlobal_v2(&global[i], &bytes, module[i], "number"));
    address all[] = {of[i], async[i], global[i]};
    for (int k = 0; k < 3; k++) {
      fprintf(stderr, "server %d: memory at %#llx\n", i, (unsigned long long)all[k]);
      EXPECT(all[k] >> 43 == (0x400000000000ull >> 43) + (unsigned)i); /* the server's range: 8 TiB */
      RUN(cuPointerGetAttribute(&owner, 1, all[k]));
      RUN(cuPointerGetAttribute(&ordinal, 9, all[k]));
      EXPECT(owner == context[i] && ordinal == i);
    }
  }
  use(0);
  EXPECT(word(global[1]) == 5);
}

/* One library's kernel on both devices; what belongs to one server is refused by calls for the other. */
static void code(void) {
  void *function, *module, *event[2];
  float milliseconds;
  address of[2];
  for (int i = 0; i < 2; i++) {
    of[i] = memory(i, 4 * BLOCK);
    RUN(cuMemsetD32Async(of[i], 7, BLOCK, stream[i]));
    add(of[i], BLOCK, 10 + (unsigned)i, 0, stream[i]);
    RUN(cuStreamSynchronize(stream[i]));
    EXPECT(word(of[i] + 4 * BLOCK - 4) == 17 + (unsigned)i);
    RUN(cuEventCreate(&event[i], 0));
    RUN(cuEventRecord(event[i], stream[i]));
  }
  use(0);
  RUN(cuModuleLoadData(&module, PTX));
  RUN(cuModuleGetFunction(&function, module, "add"));
  use(1);
  unsigned zero = 0;
  void *parameters[] = {&of[1], &zero, &zero};
  EXPECT(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream[1], parameters, NULL) == INVALID_HANDLE);
  EXPECT(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, stream[0], parameters, NULL) == INVALID_HANDLE);
  EXPECT(cuEventRecord(event[0], stream[1]) == INVALID_HANDLE);
  EXPECT(cuEventElapsedTime(&milliseconds, event[0], event[1]) == INVALID_HANDLE);
  RUN(cuCtxSynchronize());
}

/* Copies of many sizes in both directions, by every call. */
static void copies(void) {
  static const size_t sizes[] = {1, 777, 64 << 10, 4 << 20, (4 << 20) + 1, LARGEST};
  uint8_t *out = malloc(LARGEST), *in = malloc(LARGEST);
  address of[2] = {memory(0, LARGEST), memory(1, LARGEST)};
  for (unsigned round = 0; round < 2 * sizeof sizes / sizeof *sizes; round++) {
    size_t bytes = sizes[round / 2];
    int from = round % 2, to = !from;
    for (int call = 0; call < 6; call++) {
      fill(out, bytes, round * 6 + (unsigned)call);
      use(call % 2);
      RUN(cuMemcpyHtoD_v2(of[from], out, bytes));
      RUN(cuMemsetD8_v2(of[to], 0, bytes));
      void *in_stream = stream[call % 2];
      switch (call) {
        case 0: RUN(cuMemcpyPeer(of[to], context[to], of[from], context[from], bytes)); break;
        case 1: RUN(cuMemcpyPeerAsync(of[to], context[to], of[from], context[from], bytes, in_stream)); break;
        case 2: RUN(cuMemcpyDtoD_v2(of[to], of[from], bytes)); break;
        case 3: RUN(cuMemcpyDtoDAsync_v2(of[to], of[from], bytes, in_stream)); break;
        case 4: RUN(cuMemcpy(of[to], of[from], bytes)); break;
        default: RUN(cuMemcpyDtoDAsync_v2(of[to], of[from], bytes, stream[!(call % 2)])); in_stream = stream[!(call % 2)];
      }
      RUN(cuStreamSynchronize(in_stream));
      memset(in, 1, bytes);
      RUN(cuMemcpyDtoH_v2(in, of[to], bytes));
      EXPECT(!memcmp(in, out, bytes));
    }
  }
}

struct rows { /* CUDA_MEMCPY2D */
  size_t src_x, src_y;
  unsigned src_type;
  const void *src_host;
  address src_device;
  void *src_array;
  size_t src_pitch, dst_x, dst_y;
  unsigned dst_type;
  void *dst_host;
  address dst_device;
  void *dst_array;
  size_t dst_pitch, width, height;
};

static void rows(void) {
  enum { PITCH = 96, HEIGHT = 40, WIDTH = 50, X = 3, Y = 2 };
  static uint8_t out[PITCH * HEIGHT], in[PITCH * HEIGHT];
  address of[2] = {memory(0, sizeof out), memory(1, sizeof out)};
  fill(out, sizeof out, 1);
  RUN(cuMemcpyHtoD_v2(of[0], out, sizeof out));
  RUN(cuMemsetD8_v2(of[1], 9, sizeof out));
  struct rows copy = {.src_type = 2, .src_device = of[0], .src_pitch = PITCH, .src_x = X, .src_y = Y, .dst_type = 2, .dst_device = of[1],
                      .dst_pitch = PITCH, .dst_x = 1, .dst_y = 1, .width = WIDTH, .height = HEIGHT - Y};
  RUN(cuMemcpy2D_v2(&copy));
  RUN(cuMemcpyDtoH_v2(in, of[1], sizeof in));
  for (int y = 0; y < HEIGHT; y++) {
    for (int x = 0; x < PITCH; x++) {
      int inside = y >= 1 && y < 1 + HEIGHT - Y && x >= 1 && x < 1 + WIDTH;
      EXPECT(in[y * PITCH + x] == (inside ? out[(y - 1 + Y) * PITCH + x - 1 + X] : 9));
    }
  }
}

/* Kernel, copy and event in streams of both servers: each waits for what it depends on. */
static void order(void) {
  enum { WORDS = 16 * BLOCK };
  address of[2] = {memory(0, 4 * WORDS), memory(1, 4 * WORDS)};
  void *event[2];
  for (int i = 0; i < 2; i++) {
    use(i);
    RUN(cuEventCreate(&event[i], 0));
    RUN(cuMemsetD32Async(of[i], 0, WORDS, stream[i]));
    RUN(cuStreamSynchronize(stream[i]));
  }
  for (unsigned round = 1; round <= 10; round++) {
    use(0);
    add(of[0], WORDS, 1, SLOW, stream[0]);
    RUN(cuMemcpyDtoDAsync_v2(of[1], of[0], 4 * WORDS, stream[0])); /* waits for the kernel */
    RUN(cuEventRecord(event[0], stream[0]));
    use(1);
    RUN(cuStreamWaitEvent(stream[1], event[0], 0));
    add(of[1], WORDS, 100, SLOW, stream[1]);
    RUN(cuEventRecord(event[1], stream[1]));
    use(0);
    RUN(cuStreamWaitEvent(stream[0], event[1], 0));
    RUN(cuMemcpyPeerAsync(of[0], context[0], of[1], context[1], 4 * WORDS, stream[0]));
    RUN(cuStreamSynchronize(stream[0]));
    EXPECT(word(of[0]) == 101 * round && word(of[0] + 4 * WORDS - 4) == 101 * round && word(of[1] + 8) == 101 * round);
  }
}

/* Memory of the other server than the current context's may be used by calls that allow any memory. */
static void elsewhere(void) {
  address far = memory(1, 4 * BLOCK);
  use(0);
  unsigned value = 42, *pinned;
  RUN(cuMemsetD8_v2(far, 1, 4 * BLOCK));
  EXPECT(word(far) == 0x01010101);
  RUN(cuMemcpyHtoD_v2(far, &value, 4));
  EXPECT(word(far) == 42);
  RUN(cuMemsetD32Async(far, 43, BLOCK, stream[1]));
  RUN(cuStreamSynchronize(stream[1]));
  EXPECT(word(far + 8) == 43);
  RUN(cuMemHostAlloc((void **)&pinned, 4096, 0));
  RUN(cuMemcpyDtoHAsync_v2(pinned, far, 4, stream[1]));
  RUN(cuStreamSynchronize(stream[1]));
  EXPECT(*pinned == 43);
  use(1);
  *pinned = 44;
  RUN(cuMemcpyHtoDAsync_v2(far, pinned, 4, stream[1]));
  RUN(cuStreamSynchronize(stream[1]));
  EXPECT(word(far) == 44);
  RUN(cuMemFreeHost(pinned));
  use(0);
  RUN(cuMemFree_v2(far));
  EXPECT(cuMemFree_v2(far) == INVALID_VALUE);
}

/* Host memory of one server's context: ordinary memory for the other, whose kernels cannot use it unless it is registered there. */
static void host(void) {
  address far = memory(1, 4 * BLOCK), near = memory(0, 4 * BLOCK), managed, device;
  unsigned *pinned, zero = 0, *registered = aligned_alloc(4096, 4096);
  use(0);
  RUN(cuMemHostAlloc((void **)&pinned, 4096, 2));
  RUN(cuMemAllocManaged(&managed, 4 * BLOCK, 1));
  for (int i = 0; i < BLOCK; i++) pinned[i] = 100, ((unsigned *)(uintptr_t)managed)[i] = 200;
  add((address)(uintptr_t)pinned, BLOCK, 1, 0, stream[0]);
  add(managed, BLOCK, 1, 0, stream[0]);
  RUN(cuStreamSynchronize(stream[0]));
  use(1);
  void *parameters[] = {&pinned, &zero, &zero};
  EXPECT(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, stream[1], parameters, NULL) == NOT_SUPPORTED);
  parameters[0] = &managed;
  EXPECT(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, stream[1], parameters, NULL) == NOT_SUPPORTED);
  parameters[0] = &near;
  EXPECT(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, stream[1], parameters, NULL) == NOT_SUPPORTED);
  address pair[2] = {far, near};
  void *structure[] = {pair};
  RUN(cuLaunchKernel(first_of_pair, 1, 1, 1, 1, 1, 1, 0, stream[1], structure, NULL));
  RUN(cuStreamSynchronize(stream[1]));
  EXPECT(word(far) == 77);
  EXPECT(cuMemHostGetDevicePointer_v2(&device, pinned, 0) == NOT_SUPPORTED);
  RUN(cuCtxSynchronize());
  RUN(cuMemcpyDtoDAsync_v2(far, (address)(uintptr_t)pinned, 4 * BLOCK, stream[1]));
  add(far, BLOCK, 10, 0, stream[1]);
  RUN(cuMemcpyDtoHAsync_v2(pinned, far, 4 * BLOCK, stream[1]));
  RUN(cuStreamSynchronize(stream[1]));
  EXPECT(pinned[BLOCK - 1] == 111);
  RUN(cuMemcpyDtoD_v2(far, managed, 4 * BLOCK));
  add(far, BLOCK, 10, 0, NULL);
  RUN(cuMemcpyDtoD_v2(managed, far, 4 * BLOCK));
  use(0);
  add(managed, BLOCK, 1000, 0, stream[0]);
  add((address)(uintptr_t)pinned, BLOCK, 1000, 0, stream[0]);
  RUN(cuStreamSynchronize(stream[0]));
  EXPECT(((unsigned *)(uintptr_t)managed)[1] == 1211 && pinned[1] == 1111);
  use(1);
  RUN(cuMemsetD32Async((address)(uintptr_t)pinned, 7, BLOCK, stream[1]));
  RUN(cuStreamSynchronize(stream[1]));
  EXPECT(pinned[BLOCK - 1] == 7);
  /* Memory of a file, in which kernels of both servers may poll. */
  FILE *file = tmpfile();
  unsigned *of_file = file && !ftruncate(fileno(file), 4096) ? mmap(NULL, 4096, 3, MAP_SHARED, fileno(file), 0) : MAP_FAILED;
  EXPECT(of_file != MAP_FAILED);
  RUN(cuMemHostRegister_v2(of_file, 4096, 2));
  EXPECT(cuMemHostGetDevicePointer_v2(&device, of_file, 0) == NOT_SUPPORTED);
  RUN(cuMemcpyDtoH_v2(of_file, near, 4));
  RUN(cuMemHostUnregister(of_file));
  for (int i = 0; i < 2; i++) { /* memory that is registered for both */
    use(i);
    RUN(cuMemHostRegister_v2(registered, 4096, 2));
    RUN(cuMemHostGetDevicePointer_v2(&device, registered, 0));
    for (int k = 0; k < BLOCK && !i; k++) registered[k] = 5;
    add(device, BLOCK, 1, 0, stream[i]);
    RUN(cuStreamSynchronize(stream[i]));
    EXPECT(registered[0] == 6 + (unsigned)i && registered[BLOCK - 1] == 6 + (unsigned)i);
  }
  for (int i = 0; i < 2; i++) {
    use(i);
    RUN(cuMemHostUnregister(registered));
  }
  RUN(cuMemFreeHost(pinned));
  free(registered);
}

/* Handles of physical memory are numbers that two servers may both have given out. */
static void virtual_memory(void) {
  enum { BYTES = 2 << 20 };
  struct {
    int type, handles, location, device;
    void *none;
    uint64_t flags;
  } properties[2] = {{1, 0, 1, 0, NULL, 0}, {1, 0, 1, 1, NULL, 0}}, of_host = {1, 0, 3, 0, NULL, 0};
  struct {
    int location, device, flags;
  } access = {1, 0, 3};
  uint64_t handle[2], again;
  address at[2];
  for (int i = 0; i < 2; i++) {
    use(i);
    RUN(cuMemAddressReserve(&at[i], BYTES, 0, 0, 0));
    EXPECT(at[i] >> 43 == (0x400000000000ull >> 43) + (unsigned)i);
  }
  use(0);
  for (int i = 0; i < 2; i++) RUN(cuMemCreate(&handle[i], BYTES, &properties[i], 0));
  EXPECT(handle[0] != handle[1]);
  EXPECT(cuMemCreate(&again, BYTES, &of_host, 0) == NOT_SUPPORTED);
  EXPECT(cuMemMap(at[0], BYTES, 0, handle[1], 0) == INVALID_VALUE);
  for (int i = 0; i < 2; i++) {
    RUN(cuMemMap(at[i], BYTES, 0, handle[i], 0));
    access.device = i;
    RUN(cuMemSetAccess(at[i], BYTES, &access, 1));
    RUN(cuMemsetD8_v2(at[i], (unsigned char)(i + 1), BYTES));
    RUN(cuMemRetainAllocationHandle(&again, at[i]));
    EXPECT(again >> 56 == (unsigned)i + 1);
    RUN(cuMemRelease(again));
  }
  EXPECT(word(at[0]) == 0x01010101 && word(at[1]) == 0x02020202);
  RUN(cuMemcpyDtoD_v2(at[0], at[1], BYTES / 2));
  EXPECT(word(at[0]) == 0x02020202 && word(at[0] + BYTES / 2) == 0x01010101);
  for (int i = 0; i < 2; i++) {
    RUN(cuMemUnmap(at[i], BYTES));
    RUN(cuMemRelease(handle[i]));
    RUN(cuMemAddressFree(at[i], BYTES));
  }
}

/* Says that it is ready, and copies until the test has ended one server's sessions. */
static void loss(void) {
  enum { LARGE = 9 << 20 };
  address of[2] = {memory(0, LARGE), memory(1, LARGE)};
  char line[16];
  RUN(cuMemcpyPeer(of[1], context[1], of[0], context[0], LARGE));
  printf("ready\n");
  fflush(stdout);
  int error;
  do {
    error = cuMemcpyPeer(of[1], context[1], of[0], context[0], LARGE);
    if (!error) error = cuMemcpyPeer(of[0], context[0], of[1], context[1], LARGE);
  } while (!error);
  EXPECT(error == 46);
  EXPECT(fgets(line, sizeof line, stdin));
  int lost = atoi(line), other = !lost;
  use(lost);
  error = cuCtxSynchronize();
  EXPECT(error == 46); /* DEVICE_UNAVAILABLE */
  EXPECT(cuMemsetD32Async(of[lost], 1, BLOCK, stream[lost]) == 46 || cuStreamSynchronize(stream[lost]) == 46);
  use(other);
  EXPECT(cuMemcpyPeer(of[other], context[other], of[lost], context[lost], 4) == 46);
  EXPECT(cuMemcpyPeer(of[other], context[other], of[lost], context[lost], LARGE) == 46);
  EXPECT(cuMemcpyPeer(of[lost], context[lost], of[other], context[other], LARGE) == 46);
  RUN(cuMemsetD32Async(of[other], 3, BLOCK, stream[other]));
  add(of[other], BLOCK, 4, 0, stream[other]);
  RUN(cuStreamSynchronize(stream[other]));
  EXPECT(word(of[other] + 4) == 7);
}

int main(int count, char **names) {
  static const struct {
    const char *name;
    void (*run)(void);
  } groups[] = {{"devices", devices}, {"addresses", addresses}, {"code", code},           {"copies", copies},
                {"rows", rows},       {"order", order},         {"elsewhere", elsewhere}, {"host", host}, {"virtual", virtual_memory}, {"loss", loss}};
  begin();
  for (int i = 1; i < count; i++) {
    for (size_t k = 0; k < sizeof groups / sizeof *groups; k++) {
      if (strcmp(names[i], groups[k].name)) continue;
      groups[k].run();
      printf("%s: ok\n", names[i]);
    }
  }
  if (strcmp(names[count - 1], "loss")) RUN(cuLibraryUnload(library));
  return 0;
}

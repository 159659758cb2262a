/* The results of every class of call after a kernel has failed, and then of what ends or replaces the context. Prints a line for
 * each call; faults.txt has the native results of an H200 (driver 580.159.04). Built with gcc alone.
 *
 *   faults              all cases, each in a process of its own
 *   faults list         the first line of each case
 *   faults FAULT END    one case, in this process
 *
 * Only a fault's end 0 makes the calls of all classes. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef uint64_t u64;
typedef void *h; /* a handle */

static void *driver;
#define FUNCTION(name, parameters) ((int(*) parameters)dlsym(driver, #name))
#define SAY(name, parameters, arguments) say(#name, FUNCTION(name, parameters) arguments)
/* Without parameter types: each argument is as wide as the parameter, or an int, whose register has zeros above. */
#define ANY(name) ((int (*)())dlsym(driver, #name))
#define CALL(name, ...) say(#name, ANY(name)(__VA_ARGS__))
/* A call with an object that this driver may not have made before the fault. */
#define CALL_WITH(object, name, ...) (object ? CALL(name, __VA_ARGS__) : (void)printf("  %-28s not made\n", #name))
/* A call before the fault, whose failure is no result to compare. */
#define MAKE(name, ...) made(#name, ANY(name)(__VA_ARGS__))

/* Kernels, with the CUresult that each is meant to give; a GPU may give another. make_base fills the memory that they get. */
static const char *const code =
    ".version 7.5\n.target sm_75\n.address_size 64\n"
    ".visible .global .align 4 .b8 var[64];\n"
    ".extern .func __assertfail(.param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d, .param .b64 e);\n"
    ".global .align 1 .b8 msg[2] = {65, 0};\n"
    ".visible .entry good(.param .u64 p) { ret; }\n"
    ".visible .entry illegal(.param .u64 p) { .reg .b64 %a<3>; mov.u64 %a1, 16; st.global.u32 [%a1], 0; ret; }\n"
    ".visible .entry misaligned(.param .u64 p) { .reg .b64 %a<3>;\n"
    "  ld.param.u64 %a1, [p]; add.u64 %a1, %a1, 1; st.global.u32 [%a1], 7; ret; }\n"
    ".visible .entry trapped(.param .u64 p) { trap; ret; }\n"
    ".visible .entry asserted(.param .u64 p) { .reg .b64 %a<3>; .reg .b32 %r<2>;\n"
    "  mov.u64 %a1, msg; cvta.global.u64 %a1, %a1; mov.u32 %r1, 5; mov.u64 %a2, 1;\n"
    "  { .param .b64 q0; .param .b64 q1; .param .b32 q2; .param .b64 q3; .param .b64 q4;\n"
    "    st.param.b64 [q0], %a1; st.param.b64 [q1], %a1; st.param.b32 [q2], %r1; st.param.b64 [q3], %a1; st.param.b64 [q4], %a2;\n"
    "    call __assertfail, (q0, q1, q2, q3, q4); } ret; }\n"
    /* 714: calls that end only after 2^32 of them */
    ".func (.param .b32 out) deep(.param .b32 in) { .reg .b32 %r<5>; .reg .pred %p; .local .align 8 .b8 room[256];\n"
    "  ld.param.b32 %r1, [in]; st.local.u32 [room], %r1; add.u32 %r2, %r1, 1; mov.u32 %r3, 0;\n"
    "  setp.eq.u32 %p, %r2, 0; @%p bra done;\n"
    "  { .param .b32 q; .param .b32 o; st.param.b32 [q], %r2; call (o), deep, (q); ld.param.b32 %r3, [o]; }\n"
    "  done: ld.local.u32 %r4, [room]; add.u32 %r3, %r3, %r4; st.param.b32 [out], %r3; ret; }\n"
    ".visible .entry stack(.param .u64 p) { .reg .b64 %a; .reg .b32 %r;\n"
    "  ld.param.u64 %a, [p]; mov.u32 %r, 1;\n"
    "  { .param .b32 q; .param .b32 o; st.param.b32 [q], %r; call (o), deep, (q); ld.param.b32 %r, [o]; }\n"
    "  st.global.u32 [%a+48], %r; ret; }\n"
    /* 715: a barrier that does not exist, and one for a part of a warp, by registers, which an assembler cannot check */
    ".visible .entry instruction(.param .u64 p) { .reg .b64 %a; .reg .b32 %r;\n"
    "  ld.param.u64 %a, [p]; ld.volatile.global.u32 %r, [%a+16]; bar.sync %r; bar.sync 1, %r; ret; }\n"
    /* 717: an atomic operation in local memory, by an address that an assembler does not know */
    ".visible .entry space(.param .u64 p) { .reg .b64 %a<3>; .reg .b32 %r; .local .align 8 .b8 own[8];\n"
    "  ld.param.u64 %a1, [p]; mov.u64 %a2, own; cvta.local.u64 %a2, %a2;\n"
    "  st.volatile.global.u64 [%a1+32], %a2; ld.volatile.global.u64 %a2, [%a1+32];\n"
    "  atom.add.u32 %r, [%a2], 1; st.global.u32 [%a1+48], %r; ret; }\n"
/* 718: a call of an address that no code can have, and of memory that holds no code */
#define CALL_OF(name, offset)                                          \
  ".visible .entry " name                                              \
  "(.param .u64 p) { .reg .b64 %a<3>; .reg .b32 %r;\n"                 \
  "  ld.param.u64 %a1, [p]; ld.volatile.global.u64 %a2, [%a1+" offset  \
  "]; mov.u32 %r, 1;\n"                                                \
  "  { .param .b32 q; .param .b32 o; st.param.b32 [q], %r;\n"          \
  "    prototype: .callprototype (.param .b32 _) _ (.param .b32 _);\n" \
  "    call (o), %a2, (q), prototype; ld.param.b32 %r, [o]; } st.global.u32 [%a1+48], %r; ret; }\n"
    CALL_OF("pc", "0") CALL_OF("data", "8")
    /* 719, by the page of CUresult: an address beyond shared memory */
    ".visible .entry shared(.param .u64 p) { .reg .b64 %a; .reg .b32 %r;\n"
    "  ld.param.u64 %a, [p]; ld.volatile.global.u32 %r, [%a+20]; st.shared.u32 [%r], 7; ret; }\n";

/* A fault that the software device cannot make as a GPU has a reason: without a GPU nobody compares it. */
static const struct {
  const char *name, *gpu_only;
} faults[] = {
    {"illegal", NULL},
    {"misaligned", NULL},
    {"trapped", NULL},
    {"asserted", NULL},
    {"stack", NULL},
    {"instruction", NULL},
    {"space", "the software device has atomic operations in local memory"},
    {"pc", NULL},
    {"data", "the software device has no code in memory"},
    {"shared", NULL},
};
enum { FAULTS = sizeof faults / sizeof *faults, ENDS = 5 };

static void say(const char *name, int result) {
  printf("  %-28s %d\n", name, result);
  fflush(stdout);
}

static void made(const char *name, int result) {
  if (result) fprintf(stderr, "before the fault %s returned %d\n", name, result);
}

typedef int launch(h, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, h, void **, void **);

/* Structures of cuda.h. */
typedef struct {
  int type, id;
} location;
typedef struct {
  location where;
  int flags;
} grant;
typedef struct {
  size_t x, y;
  int type;
  const void *host;
  u64 device;
  h array;
  size_t pitch;
} side2;
typedef struct {
  side2 from, to;
  size_t width, height;
} copy2;
typedef struct {
  size_t x, y, z, level;
  int type;
  const void *host;
  u64 device;
  h array, context;
  size_t pitch, height;
} side3;
typedef struct {
  side3 from, to;
  size_t width, height, depth;
} copy3;
typedef struct {
  h function;
  unsigned grid[3], block[3], shared;
  void **parameters, **extra;
  h kernel, context;
} kernel_node;
typedef struct {
  u64 to;
  size_t pitch;
  unsigned value, size;
  size_t width, height;
} memset_node;
typedef struct {
  unsigned grid[3], block[3], shared;
  h stream;
  void *attributes;
  unsigned count;
} configuration;
enum { HOST = 1, DEVICE, ARRAY, UNIFIED };

/* What is made before the fault, and room for results. */
static int dev, v;
static h ctx, mod, fn, good, st, st2, ev, ev2, g, ge, pinned, pool, tmp;
static u64 d, d2, x;
static size_t n;
static float ms;
static char buf[4096];
static void *pp[] = {&d};

static h array, mipmapped, texture_reference, linked, library, kernel, own_pool, capturing, shared_event, primary;
static h own_graph, own_exec, node, host_node;
static u64 texture, surface, managed, range, spare_range, allocation, other_allocation;
static char memory_handle[64], event_handle[64], callback_data;
static const size_t MIB2 = 2 << 20;
static const struct {
  size_t width, height;
  int format;
  unsigned channels;
} array_of = {32, 32, 0x20, 1};
static const struct {
  size_t width, height, depth;
  int format;
  unsigned channels, flags;
} array3_of = {32, 32, 0, 0x20, 1, 2};
static struct {
  int type;
  h array;
  int more[30];
  unsigned flags;
} resource;
static const int texture_of[26];
static struct {
  int type, handles;
  location where;
  void *security;
  char flags[8];
} memory_of = {1, 1, {1, 0}, 0, {0}};
static const grant both = {{1, 0}, 3};
static struct {
  int type, handles;
  location where;
  void *security;
  size_t most;
  char more[56];
} pool_of = {1, 0, {1, 0}, 0, 0, {0}};
static kernel_node kernel_of;
static memset_node memset_of;
static copy3 copy_of;

static void ignore(void *data) {}
static void ignore_stream(h stream, int status, void *data) {}
static struct {
  void (*call)(void *);
  void *data;
} host_of = {ignore, NULL};

static void make_base(const char *fault, int own_context) {
  MAKE(cuInit, 0);
  MAKE(cuDeviceGet, &dev, 0);
  if (own_context) {
    MAKE(cuCtxCreate_v2, &ctx, 0, dev);
  } else {
    MAKE(cuDevicePrimaryCtxRetain, &ctx, dev);
    MAKE(cuCtxSetCurrent, ctx);
  }
  MAKE(cuModuleLoadData, &mod, code);
  MAKE(cuModuleGetFunction, &fn, mod, fault);
  MAKE(cuModuleGetFunction, &good, mod, "good");
  MAKE(cuStreamCreate, &st, 1);
  MAKE(cuStreamCreate, &st2, 0);
  MAKE(cuEventCreate, &ev, 0);
  MAKE(cuEventCreate, &ev2, 0);
  MAKE(cuMemAlloc_v2, &d, (size_t)4096);
  MAKE(cuMemAlloc_v2, &d2, (size_t)4096);
  /* An address of no code, memory without code, a barrier that does not exist, an offset beyond shared memory. */
  struct {
    u64 nowhere, data;
    unsigned barrier, offset;
    u64 room[4], no_code[8];
  } words = {0x5eadbeefdea0, d + 64, 20, 0x7ffff0, {0}, {-1, -1, -1, -1, -1, -1, -1, -1}};
  MAKE(cuMemcpyHtoD_v2, d, &words, sizeof words);
  MAKE(cuMemHostAlloc, &pinned, (size_t)4096, 0);
  MAKE(cuEventRecord, ev, st);
  MAKE(cuStreamBeginCapture_v2, st, 1);
  MAKE(cuLaunchKernel, good, 1, 1, 1, 1, 1, 1, 0, st, pp, NULL);
  MAKE(cuStreamEndCapture, st, &g);
  MAKE(cuGraphInstantiateWithFlags, &ge, g, (u64)0);
  MAKE(cuDeviceGetDefaultMemPool, &pool, dev);
}

static void make_memory(void) {
  MAKE(cuMemAllocManaged, &managed, (size_t)4096, 1);
  MAKE(cuArrayCreate_v2, &array, &array_of);
  MAKE(cuMipmappedArrayCreate, &mipmapped, &array3_of, 2);
  resource.array = array;
  MAKE(cuTexObjectCreate, &texture, &resource, texture_of, NULL);
  h stored;
  MAKE(cuArray3DCreate_v2, &stored, &array3_of);
  resource.array = stored;
  MAKE(cuSurfObjectCreate, &surface, &resource);
  MAKE(cuTexRefCreate, &texture_reference);
  memory_of.where.id = dev;
  MAKE(cuMemCreate, &allocation, MIB2, &memory_of, (u64)0);
  MAKE(cuMemCreate, &other_allocation, MIB2, &memory_of, (u64)0);
  MAKE(cuMemAddressReserve, &range, MIB2, (size_t)0, (u64)0, (u64)0);
  MAKE(cuMemAddressReserve, &spare_range, MIB2, (size_t)0, (u64)0, (u64)0);
  MAKE(cuMemMap, range, MIB2, (size_t)0, allocation, (u64)0);
  MAKE(cuMemSetAccess, range, MIB2, &both, (size_t)1);
  MAKE(cuMemPoolCreate, &own_pool, &pool_of);
  MAKE(cuEventCreate, &shared_event, 6);
  MAKE(cuIpcGetMemHandle, memory_handle, d);
  MAKE(cuIpcGetEventHandle, event_handle, shared_event);
}

static void make_work(void) {
  kernel_of = (kernel_node){.function = good, .grid = {1, 1, 1}, .block = {1, 1, 1}, .parameters = pp};
  memset_of = (memset_node){.to = d, .value = 1, .size = 1, .width = 16, .height = 1};
  side3 from = {.type = DEVICE, .device = d, .pitch = 64, .height = 1}, to = from;
  to.device += 64;
  copy_of = (copy3){from, to, 16, 1, 1};
  MAKE(cuGraphCreate, &own_graph, 0);
  MAKE(cuGraphAddKernelNode_v2, &node, own_graph, NULL, (size_t)0, &kernel_of);
  MAKE(cuGraphAddHostNode, &host_node, own_graph, NULL, (size_t)0, &host_of);
  MAKE(cuGraphInstantiateWithFlags, &own_exec, own_graph, (u64)0);
  MAKE(cuLinkCreate_v2, 0, NULL, NULL, &linked);
  MAKE(cuLibraryLoadData, &library, code, NULL, NULL, 0, NULL, NULL, 0);
  MAKE(cuLibraryGetKernel, &kernel, library, "good");
  MAKE(cuStreamCreate, &capturing, 1);
}

static void copies(void) {
  copy2 two = {{.type = DEVICE, .device = d, .pitch = 64}, {.type = HOST, .host = buf, .pitch = 64}, 16, 2};
  CALL(cuMemAllocPitch_v2, &x, &n, (size_t)64, (size_t)4, 4);
  CALL(cuMemcpy2D_v2, &two);
  CALL(cuMemcpy2DUnaligned_v2, &two);
  CALL(cuMemcpy2DAsync_v2, &two, st2);
  CALL(cuMemcpy3D_v2, &copy_of);
  CALL(cuMemcpy3DAsync_v2, &copy_of, st2);
  copy3 peer = copy_of;
  peer.from.context = peer.to.context = ctx;
  CALL(cuMemcpy3DPeer, &peer);
  CALL(cuMemcpy3DPeerAsync, &peer, st2);
  CALL(cuMemcpyPeer, d, ctx, d + 64, ctx, (size_t)16);
  CALL(cuMemcpyPeerAsync, d, ctx, d + 64, ctx, (size_t)16, st2);
  u64 to[] = {d}, from[] = {d + 64};
  size_t bytes[] = {16}, first[] = {0};
  struct {
    int order;
    location from, to;
    unsigned flags;
  } hints = {1, {0, 0}, {0, 0}, 0};
  CALL(cuMemcpyBatchAsync_v2, to, from, bytes, (size_t)1, &hints, first, (size_t)1, st2);
  CALL(cuMemsetD16_v2, d, 1, (size_t)8);
  CALL(cuMemsetD32_v2, d, 1, (size_t)4);
  CALL(cuMemsetD16Async, d, 1, (size_t)8, st2);
  CALL(cuMemsetD32Async, d, 1, (size_t)4, st2);
  CALL(cuMemsetD2D8_v2, d, (size_t)64, 1, (size_t)16, (size_t)2);
  CALL(cuMemsetD2D32_v2, d, (size_t)64, 1, (size_t)4, (size_t)2);
  CALL(cuMemsetD2D8Async, d, (size_t)64, 1, (size_t)16, (size_t)2, st2);
  CALL(cuMemsetD2D32Async, d, (size_t)64, 1, (size_t)4, (size_t)2, st2);
  CALL(cuMemcpyHtoA_v2, array, (size_t)0, buf, (size_t)16);
  CALL(cuMemcpyAtoH_v2, buf, array, (size_t)0, (size_t)16);
  CALL(cuMemcpyHtoAAsync_v2, array, (size_t)0, buf, (size_t)16, st2);
  CALL(cuMemcpyAtoHAsync_v2, buf, array, (size_t)0, (size_t)16, st2);
  CALL(cuMemcpyDtoA_v2, array, (size_t)0, d, (size_t)16);
  CALL(cuMemcpyAtoD_v2, d, array, (size_t)0, (size_t)16);
  CALL(cuMemcpyAtoA_v2, array, (size_t)0, array, (size_t)64, (size_t)16);
}

static void arrays(void) {
  char room[256];
  CALL(cuArrayCreate_v2, &tmp, &array_of);
  CALL(cuArray3DCreate_v2, &tmp, &array3_of);
  CALL(cuMipmappedArrayCreate, &tmp, &array3_of, 2);
  CALL(cuMipmappedArrayGetLevel, &tmp, mipmapped, 0);
  CALL(cuArrayGetDescriptor_v2, room, array);
  CALL(cuArray3DGetDescriptor_v2, room, array);
  CALL(cuArrayGetMemoryRequirements, room, array, dev);
  CALL(cuTexObjectCreate, &x, &resource, texture_of, NULL);
  CALL(cuTexObjectGetResourceDesc, room, texture);
  CALL(cuTexObjectGetTextureDesc, room, texture);
  CALL(cuTexObjectDestroy, texture);
  CALL(cuSurfObjectCreate, &x, &resource);
  CALL(cuSurfObjectGetResourceDesc, room, surface);
  CALL(cuSurfObjectDestroy, surface);
  CALL(cuTexRefCreate, &tmp);
  CALL(cuTexRefSetAddress_v2, &n, texture_reference, d, (size_t)16);
  CALL(cuTexRefGetFlags, &v, texture_reference);
  CALL(cuTexRefDestroy, texture_reference);
  CALL(cuModuleGetTexRef, &tmp, mod, "none");
  CALL(cuArrayDestroy, array);
  CALL(cuMipmappedArrayDestroy, mipmapped);
  u64 dims[] = {16, 16}, strides[] = {64};
  unsigned box[] = {8, 8}, steps[] = {1, 1};
  _Alignas(64) char map[128];
  CALL(cuTensorMapEncodeTiled, map, 7, 2, d, dims, strides, box, steps, 0, 0, 0, 0);
}

/* Memory of other processes, virtual memory, managed memory and host memory. */
static void memory(void) {
  struct handle {
    char bytes[64];
  } of_memory, of_event;
  memcpy(&of_memory, memory_handle, sizeof of_memory);
  memcpy(&of_event, event_handle, sizeof of_event);
  char room[64];
  int fd = -1;
  CALL(cuIpcGetEventHandle, room, shared_event);
  say("cuIpcOpenEventHandle", FUNCTION(cuIpcOpenEventHandle, (h *, struct handle))(&tmp, of_event));
  CALL(cuIpcGetMemHandle, room, d);
  say("cuIpcOpenMemHandle_v2", FUNCTION(cuIpcOpenMemHandle_v2, (u64 *, struct handle, unsigned))(&x, of_memory, 1));
  CALL(cuIpcCloseMemHandle, d);
  CALL(cuMemGetAllocationGranularity, &n, &memory_of, 0);
  CALL(cuMemCreate, &x, MIB2, &memory_of, (u64)0);
  CALL(cuMemAddressReserve, &x, MIB2, (size_t)0, (u64)0, (u64)0);
  CALL(cuMemMap, spare_range, MIB2, (size_t)0, other_allocation, (u64)0);
  CALL(cuMemSetAccess, range, MIB2, &both, (size_t)1);
  CALL(cuMemGetAccess, &x, &both.where, range);
  CALL(cuMemRetainAllocationHandle, &x, range);
  CALL(cuMemGetAllocationPropertiesFromHandle, room, allocation);
  CALL(cuMemExportToShareableHandle, &fd, allocation, 1, (u64)0);
  CALL(cuMemUnmap, range, MIB2);
  CALL(cuMemRelease, allocation);
  CALL(cuMemAddressFree, range, MIB2);
  CALL(cuMemAdvise, managed, (size_t)4096, 1, dev);
  CALL(cuMemAdvise_v2, managed, (size_t)4096, 1, both.where);
  CALL(cuMemPrefetchAsync, managed, (size_t)4096, dev, st2);
  CALL(cuMemPrefetchAsync_v2, managed, (size_t)4096, both.where, 0, st2);
  CALL(cuMemRangeGetAttribute, &v, (size_t)4, 1, managed, (size_t)4096);
  CALL(cuStreamAttachMemAsync, st2, managed, (size_t)0, 1);
  CALL(cuMemHostGetDevicePointer_v2, &x, pinned, 0);
  CALL(cuMemHostGetFlags, &v, pinned);
  CALL(cuMemHostUnregister, buf);
  CALL(cuMemAllocHost_v2, &tmp, (size_t)4096);
  int which[] = {2};
  void *result[] = {&v};
  CALL(cuPointerGetAttribute, &tmp, 1, d);
  CALL(cuPointerGetAttributes, 1, which, result, d);
  v = 1;
  CALL(cuPointerSetAttribute, &v, 6, d);
}

static void pools(void) {
  CALL(cuMemPoolCreate, &tmp, &pool_of);
  CALL(cuMemAllocFromPoolAsync, &x, (size_t)4096, own_pool, st2);
  x = 0;
  CALL(cuMemPoolSetAttribute, own_pool, 4, &x);
  CALL(cuMemPoolGetAttribute, own_pool, 4, &x);
  CALL(cuMemPoolSetAccess, own_pool, &both, (size_t)1);
  CALL(cuMemPoolGetAccess, &v, own_pool, &both.where);
  CALL(cuMemPoolTrimTo, own_pool, (size_t)0);
  CALL(cuDeviceGetDefaultMemPool, &tmp, dev);
  CALL(cuDeviceGetMemPool, &tmp, dev);
  CALL(cuDeviceSetMemPool, dev, pool);
  CALL(cuMemPoolDestroy, own_pool);
  CALL(cuDeviceGetGraphMemAttribute, dev, 0, &x);
  CALL(cuDeviceGraphMemTrim, dev);
}

static void functions(void) {
  configuration one = {.grid = {1, 1, 1}, .block = {1, 1, 1}, .stream = st2};
  CALL(cuLaunchKernelEx, &one, good, pp, NULL);
  CALL(cuLaunchCooperativeKernel, good, 1, 1, 1, 1, 1, 1, 0, st2, pp);
  CALL(cuLaunchKernel, kernel, 1, 1, 1, 1, 1, 1, 0, st2, pp, NULL);
  CALL(cuModuleLoadDataEx, &tmp, code, 0, NULL, NULL);
  CALL(cuModuleGetGlobal_v2, &x, &n, mod, "none");
  CALL(cuModuleGetFunctionCount, &v, mod);
  CALL(cuModuleGetLoadingMode, &v);
  CALL(cuFuncGetAttribute, &v, 4, good);
  CALL(cuFuncGetModule, &tmp, good);
  CALL(cuFuncGetName, &tmp, good);
  CALL(cuFuncGetParamInfo, good, (size_t)0, &x, &n);
  CALL(cuFuncIsLoaded, &v, good);
  CALL(cuFuncLoad, good);
  CALL(cuFuncSetCacheConfig, good, 1);
  CALL(cuFuncSetSharedMemConfig, good, 1);
  CALL(cuLibraryGetKernel, &tmp, library, "good");
  CALL(cuLibraryGetKernelCount, &v, library);
  CALL(cuLibraryGetModule, &tmp, library);
  CALL(cuLibraryGetGlobal, &x, &n, library, "var");
  CALL(cuKernelGetFunction, &tmp, kernel);
  CALL(cuKernelGetAttribute, &v, 0, kernel, dev);
  CALL(cuKernelSetAttribute, 8, 1024, kernel, dev);
  CALL(cuKernelGetName, &tmp, kernel);
  CALL(cuLibraryUnload, library);
  CALL(cuOccupancyMaxActiveBlocksPerMultiprocessor, &v, good, 64, (size_t)0);
  CALL(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, &v, good, 32, (size_t)0, 1);
  CALL(cuOccupancyMaxPotentialBlockSize, &v, &v, good, NULL, (size_t)0, 0);
  CALL(cuOccupancyAvailableDynamicSMemPerBlock, &n, good, 1, 32);
  CALL(cuOccupancyMaxActiveClusters, &v, good, &one);
  CALL(cuOccupancyMaxPotentialClusterSize, &v, good, &one);
  CALL(cuLinkCreate_v2, 0, NULL, NULL, &tmp);
  CALL_WITH(linked, cuLinkAddData_v2, linked, 1, code, strlen(code) + 1, "code", 0, NULL, NULL);
  CALL_WITH(linked, cuLinkComplete, linked, &tmp, &n);
  CALL_WITH(linked, cuLinkDestroy, linked);
}

static void graphs(void) {
  struct {
    u64 flags;
    h stream, node;
    int result;
  } instantiation = {0};
  struct {
    int result;
    h node, from;
  } update;
  _Alignas(8) int any[64] = {5}; /* CUgraphNodeParams: an empty node */
  CALL(cuGraphAddEmptyNode, &tmp, own_graph, NULL, (size_t)0);
  CALL(cuGraphAddKernelNode_v2, &tmp, own_graph, NULL, (size_t)0, &kernel_of);
  CALL(cuGraphAddMemcpyNode, &tmp, own_graph, NULL, (size_t)0, &copy_of, ctx);
  CALL(cuGraphAddMemsetNode, &tmp, own_graph, NULL, (size_t)0, &memset_of, ctx);
  CALL(cuGraphAddHostNode, &tmp, own_graph, NULL, (size_t)0, &host_of);
  CALL(cuGraphAddEventRecordNode, &tmp, own_graph, NULL, (size_t)0, ev2);
  CALL(cuGraphAddEventWaitNode, &tmp, own_graph, NULL, (size_t)0, ev2);
  CALL(cuGraphAddNode_v2, &tmp, own_graph, NULL, NULL, (size_t)0, any);
  n = 0;
  CALL(cuGraphGetNodes, own_graph, NULL, &n);
  n = 0;
  CALL(cuGraphGetRootNodes, own_graph, NULL, &n);
  CALL(cuGraphNodeGetType, node, &v);
  kernel_node got;
  CALL(cuGraphKernelNodeGetParams_v2, node, &got);
  CALL(cuGraphKernelNodeSetParams_v2, node, &kernel_of);
  CALL(cuGraphExecKernelNodeSetParams_v2, own_exec, node, &kernel_of);
  CALL(cuGraphExecHostNodeSetParams, own_exec, host_node, &host_of);
  CALL(cuGraphNodeSetEnabled, own_exec, node, 1);
  CALL(cuGraphExecUpdate_v2, own_exec, own_graph, &update);
  CALL(cuGraphClone, &tmp, own_graph);
  CALL(cuGraphInstantiateWithParams, &tmp, own_graph, &instantiation);
  CALL(cuGraphUpload, own_exec, st2);
  CALL(cuGraphLaunch, own_exec, st2);
  CALL(cuGraphDestroyNode, host_node);
  CALL(cuGraphExecDestroy, own_exec);
  h user_object = NULL;
  CALL(cuUserObjectCreate, &user_object, buf, ignore, 1, 1);
  CALL_WITH(user_object, cuGraphRetainUserObject, own_graph, user_object, 1, 1);
  CALL(cuGraphDestroy, own_graph);
}

static void streams(void) {
  u64 value[8] = {0};
  struct {
    int operation;
    u64 address, value;
    unsigned flags;
    u64 more[2];
  } write = {2, d, 1, 0, {0}};
  v = 0;
  CALL(cuStreamAddCallback, st2, ignore_stream, &callback_data, 0);
  CALL(cuStreamGetCaptureInfo_v2, st2, &v, &x, NULL, NULL, NULL);
  CALL(cuStreamGetCaptureInfo_v3, st2, &v, &x, NULL, NULL, NULL, NULL);
  v = 0;
  CALL(cuThreadExchangeStreamCaptureMode, &v);
  CALL(cuStreamBeginCapture_v2, capturing, 2);
  CALL(cuStreamUpdateCaptureDependencies, capturing, NULL, (size_t)0, 1);
  CALL(cuStreamEndCapture, capturing, &tmp);
  CALL(cuStreamCreateWithPriority, &tmp, 1, 0);
  CALL(cuStreamGetCtx, st2, &tmp);
  CALL(cuStreamGetId, st2, &x);
  CALL(cuStreamGetDevice, st2, &v);
  CALL(cuStreamGetAttribute, st2, 3, value);
  value[0] = 1;
  CALL(cuStreamSetAttribute, st2, 3, value);
  CALL(cuStreamCopyAttributes, st2, st2);
  CALL(cuStreamWriteValue32_v2, st2, d, 1, 0);
  CALL(cuStreamWaitValue32_v2, st2, d, 1, 0);
  CALL(cuStreamBatchMemOp_v2, st2, 1, &write, 0);
  CALL(cuEventRecordWithFlags, ev2, st2, 0);
  CALL(cuEventElapsedTime_v2, &ms, ev, ev2);
  CALL(cuEventElapsedTime, &ms, ev, ev);
}

static void contexts(void) {
  CALL(cuCtxGetId, ctx, &x);
  CALL(cuCtxSetCacheConfig, 1);
  CALL(cuCtxGetSharedMemConfig, &v);
  CALL(cuCtxSetSharedMemConfig, 1);
  CALL(cuCtxResetPersistingL2Cache);
  CALL(cuCtxSetFlags, 0);
  CALL(cuCtxEnablePeerAccess, ctx, 0);
  CALL(cuCtxDisablePeerAccess, ctx);
  CALL(cuCtxRecordEvent, ctx, ev2);
  CALL(cuCtxWaitEvent, ctx, ev2);
  CALL(cuDeviceGetTexture1DLinearMaxWidth, &n, 0x20, 1, dev);
  CALL(cuDeviceGetPCIBusId, buf, 64, dev);
  CALL(cuDeviceGetP2PAttribute, &v, 1, dev, dev);
  CALL(cuFlushGPUDirectRDMAWrites, 100, 0);
  CALL(cuDevicePrimaryCtxSetFlags_v2, dev, 0);
  CALL(cuProfilerStart);
  CALL(cuProfilerStop);
  CALL(cuGetErrorName, 700, &tmp);
  CALL(cuDriverGetVersion, &v);
}

/* The results are a list, a line for each call. */
static void after(void) {
  SAY(cuStreamSynchronize, (h), (st));
  SAY(cuStreamQuery, (h), (st2));
  SAY(cuStreamQuery, (h), (0));
  SAY(cuEventQuery, (h), (ev));
  SAY(cuEventSynchronize, (h), (ev));
  SAY(cuEventElapsedTime, (float *, h, h), (&ms, ev, ev2));
  SAY(cuEventRecord, (h, h), (ev2, st2));
  SAY(cuStreamWaitEvent, (h, h, unsigned), (st2, ev, 0));
  SAY(cuMemAlloc_v2, (u64 *, size_t), (&x, 4096));
  SAY(cuMemAllocAsync, (u64 *, size_t, h), (&x, 4096, st2));
  SAY(cuMemAllocManaged, (u64 *, size_t, unsigned), (&x, 4096, 1));
  SAY(cuMemHostAlloc, (h *, size_t, unsigned), (&tmp, 4096, 0));
  SAY(cuMemHostRegister_v2, (h, size_t, unsigned), (buf, 4096, 0));
  SAY(cuMemFree_v2, (u64), (d2));
  SAY(cuMemFreeAsync, (u64, h), (d, st2));
  SAY(cuMemFreeHost, (h), (pinned));
  SAY(cuMemGetInfo_v2, (size_t *, size_t *), (&n, &n));
  SAY(cuMemGetAddressRange_v2, (u64 *, size_t *, u64), (&x, &n, d));
  SAY(cuMemsetD8_v2, (u64, unsigned char, size_t), (d, 1, 16));
  SAY(cuMemsetD8Async, (u64, unsigned char, size_t, h), (d, 1, 16, st2));
  SAY(cuMemcpyHtoD_v2, (u64, void *, size_t), (d, buf, 16));
  SAY(cuMemcpyHtoDAsync_v2, (u64, void *, size_t, h), (d, buf, 16, st2));
  SAY(cuMemcpyDtoH_v2, (void *, u64, size_t), (buf, d, 16));
  SAY(cuMemcpyDtoHAsync_v2, (void *, u64, size_t, h), (buf, d, 16, st2));
  SAY(cuMemcpyDtoD_v2, (u64, u64, size_t), (d, d + 64, 16));
  SAY(cuMemcpyDtoDAsync_v2, (u64, u64, size_t, h), (d, d + 64, 16, st2));
  SAY(cuMemcpy, (u64, u64, size_t), (d, (u64)buf, 16));
  SAY(cuMemcpyAsync, (u64, u64, size_t, h), ((u64)buf, d, 16, st2));
  SAY(cuLaunchKernel, (h, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, h, void **, void **),
      (good, 1, 1, 1, 1, 1, 1, 0, st2, pp, 0));
  SAY(cuGraphLaunch, (h, h), (ge, st2));
  SAY(cuLaunchHostFunc, (h, void (*)(void *), void *), (st2, (void (*)(void *))free, NULL));
  SAY(cuStreamCreate, (h *, unsigned), (&tmp, 0));
  SAY(cuEventCreate, (h *, unsigned), (&tmp, 0));
  SAY(cuModuleLoadData, (h *, const void *), (&tmp, code));
  SAY(cuModuleGetFunction, (h *, h, const char *), (&tmp, mod, "good"));
  SAY(cuModuleGetGlobal_v2, (u64 *, size_t *, h, const char *), (&x, &n, mod, "var"));
  SAY(cuLibraryLoadData, (h *, const void *, void *, void *, unsigned, void *, void *, unsigned), (&tmp, code, 0, 0, 0, 0, 0, 0));
  SAY(cuFuncGetAttribute, (int *, int, h), (&v, 0, good));
  SAY(cuFuncSetAttribute, (h, int, int), (good, 8, 1024));
  SAY(cuOccupancyMaxActiveBlocksPerMultiprocessor, (int *, h, int, size_t), (&v, good, 32, 0));
  SAY(cuGraphCreate, (h *, unsigned), (&tmp, 0));
  SAY(cuGraphInstantiateWithFlags, (h *, h, u64), (&tmp, g, 0));
  SAY(cuGraphExecDestroy, (h), (ge));
  SAY(cuGraphDestroy, (h), (g));
  SAY(cuStreamBeginCapture_v2, (h, int), (st2, 1));
  SAY(cuStreamIsCapturing, (h, int *), (st2, &v));
  SAY(cuStreamGetFlags, (h, unsigned *), (st2, (unsigned *)&v));
  SAY(cuStreamGetPriority, (h, int *), (st2, &v));
  SAY(cuCtxGetCurrent, (h *), (&tmp));
  SAY(cuCtxGetDevice, (int *), (&v));
  SAY(cuCtxGetFlags, (unsigned *), ((unsigned *)&v));
  SAY(cuCtxGetLimit, (size_t *, int), (&n, 0));
  SAY(cuCtxSetLimit, (int, size_t), (0, 2048));
  SAY(cuCtxGetCacheConfig, (int *), (&v));
  SAY(cuCtxGetApiVersion, (h, unsigned *), (ctx, (unsigned *)&v));
  SAY(cuCtxGetStreamPriorityRange, (int *, int *), (&v, &v));
  SAY(cuCtxSetCurrent, (h), (ctx));
  SAY(cuCtxPushCurrent_v2, (h), (ctx));
  SAY(cuCtxPopCurrent_v2, (h *), (&tmp));
  SAY(cuDeviceGetAttribute, (int *, int, int), (&v, 1, dev));
  SAY(cuDeviceTotalMem_v2, (size_t *, int), (&n, dev));
  SAY(cuDeviceGetName, (char *, int, int), (buf, 64, dev));
  SAY(cuDevicePrimaryCtxGetState, (int, unsigned *, int *), (dev, (unsigned *)&v, &v));
  SAY(cuPointerGetAttribute, (void *, int, u64), (&v, 2, d));
  SAY(cuMemPoolTrimTo, (h, size_t), (pool, 0));
  SAY(cuMemPoolGetAttribute, (h, int, void *), (pool, 5, &x));
  SAY(cuDeviceCanAccessPeer, (int *, int, int), (&v, dev, dev));
  copies();
  arrays();
  memory();
  pools();
  functions();
  graphs();
  streams();
  contexts();
  SAY(cuStreamDestroy_v2, (h), (st));
  SAY(cuEventDestroy_v2, (h), (ev));
  SAY(cuModuleUnload, (h), (mod));
  SAY(cuCtxSynchronize, (void), ());
}

static void ended(int end) {
  h other;
  switch (end) {
    case 0:
      SAY(cuDevicePrimaryCtxReset_v2, (int), (dev));
      SAY(cuCtxSynchronize, (void), ());
      SAY(cuMemAlloc_v2, (u64 *, size_t), (&x, 4096));
      SAY(cuDevicePrimaryCtxRetain, (h *, int), (&tmp, dev));
      SAY(cuCtxSetCurrent, (h), (ctx));
      SAY(cuMemAlloc_v2, (u64 *, size_t), (&x, 4096));
      SAY(cuCtxSynchronize, (void), ());
      break;
    case 1:
      SAY(cuDevicePrimaryCtxRelease_v2, (int), (dev));
      SAY(cuDevicePrimaryCtxRetain, (h *, int), (&tmp, dev));
      SAY(cuCtxSetCurrent, (h), (ctx));
      SAY(cuMemAlloc_v2, (u64 *, size_t), (&x, 4096));
      break;
    case 2:
      SAY(cuCtxCreate_v2, (h *, unsigned, int), (&tmp, 0, dev));
      SAY(cuMemAlloc_v2, (u64 *, size_t), (&x, 4096));
      SAY(cuCtxSynchronize, (void), ());
      break;
    case 3:
      CALL(cuCtxDestroy_v2, ctx);
      CALL(cuCtxGetCurrent, &tmp);
      CALL(cuCtxSynchronize);
      CALL(cuMemAlloc_v2, &x, (size_t)4096);
      CALL(cuCtxCreate_v2, &tmp, 0, dev);
      CALL(cuDevicePrimaryCtxRetain, &tmp, dev);
      CALL(cuDevicePrimaryCtxReset_v2, dev);
      break;
    default:
      CALL(cuCtxPopCurrent_v2, &tmp);
      CALL(cuCtxGetCurrent, &other);
      CALL(cuCtxSetCurrent, primary);
      CALL(cuCtxSynchronize);
      CALL(cuMemAlloc_v2, &x, (size_t)4096);
      CALL(cuStreamCreate, &tmp, 0);
      CALL(cuDevicePrimaryCtxRelease_v2, dev);
      CALL(cuCtxPushCurrent_v2, ctx);
      CALL(cuCtxSynchronize);
      CALL(cuCtxDestroy_v2, ctx);
  }
}

/* Ends 0 to 2: the fault is in the primary context. 3 and 4: in a context of cuCtxCreate, beside the primary context in 4. */
static int one(const char *fault, int end) {
  alarm(20);
  make_base(fault, end >= 3);
  if (end == 4) {
    MAKE(cuDevicePrimaryCtxRetain, &primary, dev);
  }
  if (!end) {
    make_memory();
    make_work();
  }
  MAKE(cuCtxSynchronize);
  launch *run = (launch *)dlsym(driver, "cuLaunchKernel");
  say("launch of the fault", run(fn, 1, 1, 1, 1, 1, 1, 0, st, pp, NULL));
  SAY(cuCtxSynchronize, (void), ());
  SAY(cuCtxSynchronize, (void), ());
  if (!end) after();
  ended(end);
  _exit(0);
}

static int child(const char *fault, int end) {
  int status;
  pid_t pid = fork();
  if (!pid) one(fault, end);
  return pid < 0 || waitpid(pid, &status, 0) != pid || status;
}

/* The cases of one fault or of all, one end or all. */
static int run_cases(const char *fault, int end, int (*run)(const char *, int)) {
  int failed = 0, count = 0;
  for (int e = 0; e < ENDS; e++) {
    for (int i = 0; i < FAULTS; i++) {
      if ((fault && strcmp(fault, faults[i].name)) || (end >= 0 && end != e)) continue;
      const char *reason = faults[i].gpu_only;
      printf("fault %s, end %d%s%s%s\n", faults[i].name, e, reason ? " (GPU only: " : "", reason ? reason : "", reason ? ")" : "");
      fflush(stdout);
      failed |= run && run(faults[i].name, e);
      count++;
    }
  }
  return failed || !count;
}

int main(int count, char **arguments) {
  if (count == 2 && !strcmp(arguments[1], "list")) return run_cases(NULL, -1, NULL);
  driver = dlopen("libcuda.so.1", RTLD_NOW);
  if (!driver) {
    fprintf(stderr, "%s\n", dlerror());
    return 2;
  }
  return count == 3 ? run_cases(arguments[1], atoi(arguments[2]), one) : run_cases(NULL, -1, child);
}

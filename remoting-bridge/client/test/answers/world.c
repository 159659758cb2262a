/* The objects of a process that makes right calls. Objects that a call may end are made for each case, the others once. */
#include "world.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "graft_rpc.h"

#define GRANULE (2ull << 20)
enum { INVALID_VALUE = 1, INVALID_HANDLE = 400, NOT_SUPPORTED = 801 };

const char world_ptx[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n.global .b32 x[4];\n.visible .entry k(.param .u64 p) { ret; }\n";

static struct { uint64_t context, module, library, function, kernel, array, mipmap, texref, pool, memory, managed, pinned; } kept;
static uint64_t stream, capturing; /* of this case */
static struct world_graph graph;
static bool has_graph;

/* What destroys the objects that have been made since world_destroyed began, in their order. */
static struct {
  const char *function;
  uint64_t object, second;
} ends[32];
static int end_count;
static bool is_doomed;

static uint64_t ended_by(const char *function, uint64_t object, uint64_t second) {
  if (is_doomed) {
    ends[end_count].function = function;
    ends[end_count].object = object;
    ends[end_count++].second = second;
  }
  return object;
}

void *world_symbol(const char *name) {
  static void *library;
  if (!library && !(library = dlopen("libcuda.so.1", RTLD_NOW))) {
    fprintf(stderr, "answers: %s\n", dlerror());
    _exit(2);
  }
  return dlsym(library, name);
}

int world_call(const char *name, const uint64_t *w) {
  void *symbol = world_symbol(name);
  if (!symbol) return -1;
  int (*function)(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t);
  memcpy(&function, &symbol, sizeof symbol);
  return function(w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7], w[8], w[9], w[10]);
}

bool world_open(void) {
  memset(&kept, 0, sizeof kept);
  has_graph = false;
  return !DRIVER(cuInit, 0) && !DRIVER(cuDevicePrimaryCtxRetain, AT(&kept.context), 0) && !DRIVER(cuCtxSetCurrent, kept.context);
}

void world_forget(void) {
  uint64_t context = kept.context;
  memset(&kept, 0, sizeof kept);
  kept.context = context;
}

/* One that is to be destroyed does not stay current, so that the other objects are not made in it. */
uint64_t world_context(void) {
  uint64_t made = 0, popped;
  DRIVER(cuCtxCreate_v2, AT(&made), 0, 0);
  if (is_doomed) DRIVER(cuCtxPopCurrent_v2, AT(&popped));
  return ended_by("cuCtxDestroy_v2", made, 0);
}

const char *world_file(void) {
  static char path[64];
  if (*path) return path;
  snprintf(path, sizeof path, "k%d.ptx", (int)getpid());
  FILE *file = fopen(path, "w");
  if (file) {
    fputs(world_ptx, file);
    fclose(file);
  }
  return path;
}

uint64_t world_memory(void) {
  if (!kept.memory) {
    DRIVER(cuMemAlloc_v2, AT(&kept.memory), WORLD_MEMORY_BYTES);
    ended_by("cuMemFree_v2", kept.memory, 0);
    DRIVER(cuMemsetD8_v2, kept.memory, 0, WORLD_MEMORY_BYTES);
  }
  return kept.memory;
}

uint64_t world_managed(void) {
  if (kept.managed) return kept.managed;
  DRIVER(cuMemAllocManaged, AT(&kept.managed), WORLD_MEMORY_BYTES, 1);
  return ended_by("cuMemFree_v2", kept.managed, 0);
}

uint64_t world_pinned(void) {
  if (kept.pinned) return kept.pinned;
  DRIVER(cuMemHostAlloc, AT(&kept.pinned), WORLD_MEMORY_BYTES, 2);
  return ended_by("cuMemFreeHost", kept.pinned, 0);
}

uint64_t world_page(void) { return AT(mmap(NULL, WORLD_MEMORY_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)); }

uint64_t world_registered(void) {
  uint64_t page = world_page();
  DRIVER(cuMemHostRegister_v2, page, WORLD_MEMORY_BYTES, 0);
  return ended_by("cuMemHostUnregister", page, 0);
}

void world_unregister(uint64_t address) { DRIVER(cuMemHostUnregister, address); }

uint64_t world_pooled(void) {
  uint64_t address = 0;
  DRIVER(cuMemAllocAsync, AT(&address), 4096, 0);
  return ended_by("cuMemFreeAsync", address, 0);
}

uint64_t world_physical(void) {
  uint64_t handle = 0;
  uint8_t properties[32] = {0};
  put32(properties, 0, 1); /* pinned */
  put32(properties, 4, 1); /* as a file descriptor */
  put32(properties, 8, 1); /* on a device */
  DRIVER(cuMemCreate, AT(&handle), GRANULE, AT(properties), 0);
  return ended_by("cuMemRelease", handle, 0);
}

uint64_t world_reserved(void) {
  uint64_t address = 0;
  DRIVER(cuMemAddressReserve, AT(&address), GRANULE, 0, 0, 0);
  return ended_by("cuMemAddressFree", address, GRANULE);
}

uint64_t world_mapped(void) {
  uint64_t address = world_reserved();
  uint8_t access[12] = {0};
  put32(access, 0, 1);
  put32(access, 8, 3);
  DRIVER(cuMemMap, address, GRANULE, 0, world_physical(), 0);
  DRIVER(cuMemSetAccess, address, GRANULE, AT(access), 1);
  return ended_by("cuMemUnmap", address, GRANULE);
}

static uint64_t resource_object(const char *create, const char *destroy) {
  uint64_t object = 0;
  uint8_t resource[144] = {0}, sampling[104] = {0};
  put64(resource, 8, world_handle(GRAFT_ARRAY, NULL));
  world_call(create, (uint64_t[MAX_PARAMETERS]){AT(&object), AT(resource), AT(sampling), 0});
  return ended_by(destroy, object, 0);
}
uint64_t world_texture(void) { return resource_object("cuTexObjectCreate", "cuTexObjectDestroy"); }
uint64_t world_surface(void) { return resource_object("cuSurfObjectCreate", "cuSurfObjectDestroy"); }

static uint64_t array(const char *create, const char *destroy, int levels) {
  uint64_t made = 0;
  uint8_t shape[40] = {0};
  put64(shape, 0, 64);
  put64(shape, 8, 64);
  put32(shape, 24, 1); /* unsigned bytes */
  put32(shape, 28, 1);
  put32(shape, 32, 2); /* for surfaces */
  world_call(create, (uint64_t[MAX_PARAMETERS]){AT(&made), AT(shape), (uint64_t)levels});
  return ended_by(destroy, made, 0);
}

static uint64_t pool(void) {
  uint64_t made = 0;
  uint8_t properties[88] = {0};
  put32(properties, 0, 1);
  put32(properties, 4, 1);
  put32(properties, 8, 1);
  DRIVER(cuMemPoolCreate, AT(&made), AT(properties));
  return ended_by("cuMemPoolDestroy", made, 0);
}

static void nothing(void *data) { (void)data; }

static uint64_t user_object(void) {
  uint64_t made = 0;
  DRIVER(cuUserObjectCreate, AT(&made), AT(&kept), AT(nothing), 2, 1);
  return ended_by("cuUserObjectRelease", made, 2);
}

static uint64_t link_state(void) {
  uint64_t made = 0;
  DRIVER(cuLinkCreate_v2, 0, 0, 0, AT(&made));
  DRIVER(cuLinkAddData_v2, made, 1, AT(world_ptx), strlen(world_ptx) + 1, AT("first"), 0, 0, 0);
  return ended_by("cuLinkDestroy", made, 0);
}

static uint64_t event(void) {
  uint64_t made = 0;
  DRIVER(cuEventCreate, AT(&made), 0);
  DRIVER(cuEventRecord, made, 0);
  DRIVER(cuEventSynchronize, made);
  return ended_by("cuEventDestroy_v2", made, 0);
}

/* The functions of handles whose objects are kept until a call may have ended them. */
static uint64_t library(void) {
  if (kept.library) return kept.library;
  DRIVER(cuLibraryLoadData, AT(&kept.library), AT(world_ptx), 0, 0, 0, 0, 0, 0);
  return ended_by("cuLibraryUnload", kept.library, 0);
}
static uint64_t module(void) {
  if (kept.module) return kept.module;
  DRIVER(cuModuleLoadData, AT(&kept.module), AT(world_ptx));
  return ended_by("cuModuleUnload", kept.module, 0);
}
static uint64_t kernel(void) {
  if (!kept.kernel) DRIVER(cuLibraryGetKernel, AT(&kept.kernel), library(), AT("k"));
  return kept.kernel;
}
static uint64_t entry(void) {
  if (!kept.function) DRIVER(cuModuleGetFunction, AT(&kept.function), module(), AT("k"));
  return kept.function;
}

uint64_t world_handle(int kind, const struct function *f) {
  bool is_kernel = f && !strncmp(f->name, "cuKernel", 8);
  switch (kind) {
    case GRAFT_CONTEXT: return is_doomed ? world_context() : kept.context;
    case GRAFT_MODULE: return module();
    case GRAFT_LIBRARY: return library();
    case GRAFT_FUNCTION: return is_kernel ? kernel() : entry();
    case GRAFT_STREAM:
      if (stream) return stream;
      DRIVER(cuStreamCreate, AT(&stream), 1);
      return ended_by("cuStreamDestroy_v2", stream, 0);
    case GRAFT_EVENT: return event();
    case GRAFT_ARRAY: return kept.array ? kept.array : (kept.array = array("cuArray3DCreate_v2", "cuArrayDestroy", 0));
    case GRAFT_MIPMAP:
      return kept.mipmap ? kept.mipmap : (kept.mipmap = array("cuMipmappedArrayCreate", "cuMipmappedArrayDestroy", 2));
    case GRAFT_TEXREF:
      if (kept.texref) return kept.texref;
      DRIVER(cuTexRefCreate, AT(&kept.texref));
      return ended_by("cuTexRefDestroy", kept.texref, 0);
    case GRAFT_GRAPH: return world_graph(f)->graph;
    case GRAFT_NODE: return world_graph(f)->nodes[1];
    case GRAFT_EXEC:
      world_graph(f);
      if (graph.exec) return graph.exec;
      DRIVER(cuGraphInstantiateWithFlags, AT(&graph.exec), graph.graph, 0);
      return ended_by("cuGraphExecDestroy", graph.exec, 0);
    case GRAFT_POOL: return kept.pool ? kept.pool : (kept.pool = pool());
    case GRAFT_LINK: return link_state();
    case GRAFT_USEROBJECT: return user_object();
    default: return 0;
  }
}

const struct world_graph *world_graph(const struct function *f) {
  const char *name = f ? f->name : "";
  if (has_graph) return &graph;
  memset(&graph, 0, sizeof graph);
  has_graph = true;
  DRIVER(cuGraphCreate, AT(&graph.graph), 0);
  ended_by("cuGraphDestroy", graph.graph, 0);
  DRIVER(cuGraphCreate, AT(&graph.child), 0);
  ended_by("cuGraphDestroy", graph.child, 0);
  uint64_t unused;
  DRIVER(cuGraphAddEmptyNode, AT(&unused), graph.child, 0, 0);
  DRIVER(cuGraphAddEmptyNode, AT(&graph.nodes[0]), graph.graph, 0, 0);
  uint8_t parameters[256] = {0};
  uint64_t made = AT(&graph.nodes[1]), before = AT(&graph.nodes[0]), at = AT(parameters);
  if (strstr(name, "MemFreeNode") && !strstr(name, "Add")) {
    uint64_t allocation;
    fill_node("MemAllocNode", parameters, &graph);
    DRIVER(cuGraphAddMemAllocNode, AT(&allocation), graph.graph, before, 1, at);
    memcpy(&graph.address, parameters + 112, 8);
    DRIVER(cuGraphAddMemFreeNode, made, graph.graph, AT(&allocation), 1, graph.address);
  } else if (strstr(name, "MemAllocNode") || strstr(name, "MemFreeNode")) {
    fill_node("MemAllocNode", parameters, &graph);
    DRIVER(cuGraphAddMemAllocNode, made, graph.graph, before, 1, at);
    memcpy(&graph.address, parameters + 112, 8);
  } else if (strstr(name, "EventRecordNode")) {
    DRIVER(cuGraphAddEventRecordNode, made, graph.graph, before, 1, event());
  } else if (strstr(name, "EventWaitNode")) {
    DRIVER(cuGraphAddEventWaitNode, made, graph.graph, before, 1, event());
  } else if (strstr(name, "ChildGraphNode")) {
    DRIVER(cuGraphAddChildGraphNode, made, graph.graph, before, 1, graph.child);
  } else {
    fill_node(name, parameters, &graph);
    if (strstr(name, "MemcpyNode")) {
      DRIVER(cuGraphAddMemcpyNode, made, graph.graph, before, 1, at, kept.context);
    } else if (strstr(name, "MemsetNode")) {
      DRIVER(cuGraphAddMemsetNode, made, graph.graph, before, 1, at, kept.context);
    } else if (strstr(name, "HostNode")) {
      DRIVER(cuGraphAddHostNode, made, graph.graph, before, 1, at);
    } else if (strstr(name, "BatchMemOpNode")) {
      DRIVER(cuGraphAddBatchMemOpNode, made, graph.graph, before, 1, at);
    } else {
      DRIVER(cuGraphAddKernelNode_v2, made, graph.graph, before, 1, at);
    }
  }
  DRIVER(cuGraphAddEmptyNode, AT(&graph.nodes[2]), graph.graph, made, 1);
  if (strstr(name, "InClone")) {
    DRIVER(cuGraphClone, AT(&graph.clone), graph.graph);
    ended_by("cuGraphDestroy", graph.clone, 0);
  }
  return &graph;
}

/* Destroys what has been made, the last first. */
static bool end_objects(void) {
  bool ended = end_count > 0;
  while (end_count > 0) {
    end_count--;
    const uint64_t arguments[MAX_PARAMETERS] = {ends[end_count].object, ends[end_count].second};
    ended = ends[end_count].object && !world_call(ends[end_count].function, arguments) && ended;
  }
  return !DRIVER(cuCtxSynchronize, 0) && ended;
}

bool world_destroyed(const struct function *f, int parameter, enum gone what, struct arguments *a) {
  __typeof__(kept) others = kept;
  uint64_t other_stream = stream, context = 0;
  struct world_graph other_graph = graph;
  bool had_graph = has_graph;
  world_forget();
  stream = 0;
  has_graph = false;
  is_doomed = what == OBJECT;
  if (what == CONTEXT_ALONE) context = world_context();
  world_argument(f, parameter, a);
  is_doomed = false;
  bool ended = what == OBJECT       ? end_objects()
               : what == NODE_ALONE ? a->value[parameter] && !DRIVER(cuGraphDestroyNode, a->value[parameter])
                                    : a->value[parameter] && !DRIVER(cuCtxDestroy_v2, context);
  kept = others;
  stream = other_stream;
  graph = other_graph;
  has_graph = had_graph;
  return ended;
}

void world_enter(enum state state) {
  if (state == NO_CONTEXT) DRIVER(cuCtxSetCurrent, 0);
  if (state == CAPTURING) {
    capturing = world_handle(GRAFT_STREAM, NULL);
    DRIVER(cuStreamBeginCapture_v2, capturing, 0);
  }
}

bool world_leave(enum state state, int *later) {
  uint64_t made = 0, used = stream;
  if (state == CAPTURING) {
    DRIVER(cuStreamEndCapture, capturing, AT(&made));
    if (made) DRIVER(cuGraphDestroy, made);
  }
  stream = 0;
  has_graph = false;
  /* A capture of the thread's own stream, and contexts that the call has pushed. */
  int ended = DRIVER(cuStreamEndCapture, 2, AT(&made));
  if (!ended && made) DRIVER(cuGraphDestroy, made);
  for (int i = 0; i < 16 && !DRIVER(cuCtxPopCurrent_v2, AT(&made)) && made; i++) {}
  if (DRIVER(cuCtxSetCurrent, kept.context)) return false;
  *later = DRIVER(cuCtxSynchronize, 0);
  /* A capture that the call has begun. */
  if (used && !DRIVER(cuStreamEndCapture, used, AT(&made)) && made) DRIVER(cuGraphDestroy, made);
  bool usable = !*later || !DRIVER(cuCtxSynchronize, 0);
  /* The first call that waits has the error: here that may be the end of a capture that never began. */
  if (!*later && (ended == INVALID_VALUE || ended == INVALID_HANDLE || ended == NOT_SUPPORTED)) *later = ended;
  return usable;
}

bool world_is_usable(void) {
  uint64_t made = 0, address = 0;
  return !DRIVER(cuStreamCreate, AT(&made), 1) && !DRIVER(cuStreamDestroy_v2, made) && !DRIVER(cuMemAlloc_v2, AT(&address), 4096) &&
         !DRIVER(cuMemFree_v2, address) && module();
}

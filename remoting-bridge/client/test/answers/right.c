/* The arguments of a right call, by the names of functions and parameters. */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "graft_rpc.h"
#include "world.h"

static void nothing(void *data) { (void)data; }

static void fill_kernel(uint8_t *at) {
  static uint64_t parameter;
  static void *list[] = {&parameter};
  parameter = world_memory();
  put64(at, 0, world_handle(GRAFT_FUNCTION, NULL));
  for (size_t i = 0; i < 6; i++) put32(at, 8 + 4 * i, 1);
  put64(at, 40, AT(list));
}

static void fill_memset(uint8_t *at) {
  put64(at, 0, world_memory());
  put32(at, 20, 1);
  put64(at, 24, 64);
  put64(at, 32, 1);
}

/* CUDA_MEMCPY3D between two parts of device memory. */
static void fill_copy3D(uint8_t *at) {
  put32(at, 32, 2);
  put64(at, 48, world_memory());
  put64(at, 72, 256);
  put64(at, 80, 4);
  put32(at, 120, 2);
  put64(at, 136, world_memory() + 32768);
  put64(at, 160, 256);
  put64(at, 168, 4);
  put64(at, 176, 64);
  put64(at, 184, 4);
  put64(at, 192, 2);
}

static void fill_copy2D(uint8_t *at) {
  put32(at, 16, 2);
  put64(at, 32, world_memory());
  put64(at, 48, 256);
  put32(at, 72, 2);
  put64(at, 88, world_memory() + 32768);
  put64(at, 104, 256);
  put64(at, 112, 64);
  put64(at, 120, 4);
}

/* CUstreamBatchMemOpParams: writes 1 to device memory. */
static void fill_operation(uint8_t *at) {
  put32(at, 0, 2);
  put64(at, 8, world_memory());
  put64(at, 16, 1);
}

void fill_node(const char *name, uint8_t *at, const struct world_graph *graph) {
  (void)graph;
  if (strstr(name, "MemAllocNode")) {
    put32(at, 0, 1);
    put32(at, 8, 1);
    put64(at, 104, 4096);
  } else if (strstr(name, "MemcpyNode")) {
    fill_copy3D(at);
  } else if (strstr(name, "MemsetNode")) {
    fill_memset(at);
  } else if (strstr(name, "HostNode")) {
    put64(at, 0, AT(nothing));
  } else if (strstr(name, "BatchMemOpNode")) {
    static uint8_t operation[48];
    fill_operation(operation);
    put64(at, 0, world_handle(GRAFT_CONTEXT, NULL));
    put32(at, 8, 1);
    put64(at, 16, AT(operation));
  } else {
    fill_kernel(at);
  }
}

/* What makes an argument: gets the function, the argument's buffer, which holds zeros, and the rule's number. */
typedef uint64_t (*maker)(const struct function *f, uint8_t *at, uint64_t value);
#define MAKER(name) static uint64_t name(const struct function *f, uint8_t *at, uint64_t value)
#define MAKES(name, expression) \
  MAKER(name) { return (void)f, (void)at, (void)value, (expression); }
#define FILLS(name, statements) \
  MAKER(name) {                 \
    (void)f, (void)value;       \
    statements;                 \
    return AT(at);              \
  }

MAKES(number, value)
MAKES(file, AT(world_file()))
MAKES(context_of_its_own, world_context())
MAKES(managed, world_managed())
MAKES(pinned, world_pinned())
MAKES(registered, world_registered())
MAKES(page, world_page())
MAKES(pooled, world_pooled())
MAKES(physical, world_physical())
MAKES(reserved, world_reserved())
MAKES(mapped, world_mapped())
MAKES(texture, world_texture())
MAKES(surface, world_surface())
MAKES(memory, world_memory() + value)
MAKES(code, AT(nothing))
MAKES(child, world_graph(f)->child)
MAKES(clone_of, world_graph(f)->clone)
MAKES(allocated, world_graph(f)->address)
MAKES(legacy_ptx, AT(world_ptx))

FILLS(node_at, put64(at, 0, world_graph(f)->nodes[value]))
FILLS(node, fill_node(f->name, at, world_graph(f)))
FILLS(any_node, put32(at, 0, 0); fill_kernel(at + 16))
FILLS(copy2D, fill_copy2D(at))
FILLS(copy3D, fill_copy3D(at))
FILLS(peer, fill_copy3D(at); put64(at, 64, world_handle(GRAFT_CONTEXT, f)); put64(at, 152, world_handle(GRAFT_CONTEXT, f)))
FILLS(operation, fill_operation(at))
FILLS(array2D, put64(at, 0, 64); put64(at, 8, 64); put32(at, 16, 1); put32(at, 20, 1))
FILLS(array3D, put64(at, 0, 64); put64(at, 8, 64); put32(at, 24, 1); put32(at, 28, 1))
FILLS(pinned_on_device, put32(at, 0, 1); put32(at, 8, 1))
FILLS(location, put32(at, 0, 1))
FILLS(access_of, put32(at, 0, 1); put32(at, 8, 3))
FILLS(resource, put64(at, 8, world_handle(GRAFT_ARRAY, f)))
FILLS(numbers64, for (size_t i = 0; i < 5; i++) put64(at, 8 * i, value))
FILLS(numbers32, for (size_t i = 0; i < 5; i++) put32(at, 4 * i, (uint32_t)value))
FILLS(strides, for (size_t i = 0; i < 5; i++) put64(at, 8 * i, 64ull << 6 * i))
FILLS(address_list, put64(at, 0, world_memory() + value))
FILLS(managed_list, put64(at, 0, world_managed()))
FILLS(results, put64(at, 0, AT(at + 2048)))
FILLS(parameters, uint8_t kernel[256] = {0}; fill_kernel(kernel); memcpy(at, kernel + 40, 8); at = *(uint8_t **)(void *)at)

/* CUlaunchConfig */
MAKER(config) {
  (void)value;
  for (size_t i = 0; i < 6; i++) put32(at, 4 * i, 1);
  if (!strncmp(f->name, "cuLaunch", 8)) put64(at, 32, world_handle(GRAFT_STREAM, f));
  return AT(at);
}

MAKER(bus_id) {
  (void)f, (void)value;
  DRIVER(cuDeviceGetPCIBusId, AT(at), 64, 0);
  return AT(at);
}

static const struct rule {
  const char *function, *parameter;
  maker make;
  uint64_t value;
} rules[] = {
    {"cuCtxDestroy*", "ctx", context_of_its_own, 0},
    {"cuGetProcAddress*", "symbol", number, AT("cuMemAlloc")},
    {"cuGetProcAddress*", "driverVersion", number, 13000},
    {"cuDeviceGetByPCIBusId", "pciBusId", bus_id, 0},
    {"cuDeviceGet*", "len", number, 64},
    {"*", "attrib", number, 1},
    {"cuPointerGetAttribute", "attribute", number, 2},
    {"cuPointerSetAttribute", "attribute", number, 6},
    {"cuPointerGetAttributes", "attributes", numbers32, 2},
    {"cuPointerGetAttributes", "data", results, 0},
    {"cuMemRangeGetAttributes", "data", results, 0},
    {"cuMemRangeGetAttributes", "dataSizes", numbers64, 4},
    {"cuMemRangeGetAttributes", "attributes", numbers32, 1},
    {"cuMemRangeGetAttribute", "attribute", number, 1},
    {"cuMemRangeGetAttribute", "dataSize", number, 4},
    {"cuMem*Advise*", "advice", number, 1},
    {"cuCtxSetLimit", "value", number, 1024},
    {"cuStream*Attribute", "attr", number, 1},
    {"cuGraphKernelNode*Attribute", "attr", number, 1},
    {"cuMemPool*Attribute", "attr", number, 1},
    {"cuMem*Pool", "type", number, 1},
    {"cuLinkAdd*", "type", number, 1},
    {"cuLinkAddData*", "data", legacy_ptx, 0},
    {"cuLinkAddData*", "size", number, 0}, /* set by world_right */
    {"cuLinkAddFile*", "path", file, 0},
    {"cuModuleLoad", "fname", file, 0},
    {"cuLibraryLoadFromFile", "fileName", file, 0},
    {"cuModuleLoadData*", "image", legacy_ptx, 0},
    {"cuModuleLoadFatBinary", "fatCubin", legacy_ptx, 0},
    {"cuLibraryLoadData", "code", legacy_ptx, 0},
    {"cu*GetGlobal*", "name", number, AT("x")},
    {"cuLibraryGetManaged", "name", number, AT("x")},
    {"cuGraphDebugDotPrint", "path", number, AT("/dev/null")},
    {"cuLogsDumpToFile", "pathToFile", number, AT("/dev/null")},
    {"*", "jitOptions", number, 0},
    {"*", "jitOptionsValues", number, 0},
    {"*", "libraryOptions", number, 0},
    {"*", "libraryOptionValues", number, 0},
    {"*", "options", number, 0},
    {"*", "optionValues", number, 0},
    {"*", "paramsArray", number, 0},
    {"*", "ctxCreateParams", number, 0},
    {"*", "pResViewDesc", number, 0},
    {"cu*ObjectCreate", "pResDesc", resource, 0},
    {"*", "handleType", number, 1},
    {"*", "shHandleType", number, 1},
    {"cuMemHostUnregister", "p", registered, 0},
    {"cuMemHostRegister*", "p", page, 0},
    {"cuMem*Host*", "p", pinned, 0},
    {"cuMemAddressReserve", "addr", number, 0},
    {"cuMemAddressFree", "ptr", reserved, 0},
    {"cuMemMap", "ptr", reserved, 0},
    {"cuMemUnmap", "ptr", mapped, 0},
    {"cuMem*Access", "ptr", mapped, 0},
    {"cuMemRetainAllocationHandle", "addr", mapped, 0},
    {"cuMem*", "handle", physical, 0},
    {"cuMem{Create,Map,Unmap}", "size", number, 2 << 20},
    {"cuMemCreate", "size", number, 2 << 20},
    {"cuMem*Map*", "size", number, 2 << 20},
    {"cuMemUnmap", "size", number, 2 << 20},
    {"cuMemSetAccess", "size", number, 2 << 20},
    {"cuMemAddress*", "size", number, 2 << 20},
    {"cuMemFreeAsync", "dptr", pooled, 0},
    {"cuMem*Advise*", "devPtr", managed, 0},
    {"cuMemAdvise*", "devPtr", managed, 0},
    {"cuMemPrefetchAsync*", "devPtr", managed, 0},
    {"cuMemRange*", "devPtr", managed, 0},
    {"cuStreamAttachMemAsync", "dptr", managed, 0},
    {"cuStreamAttachMemAsync", "flags", number, 1},
    {"cuMemAllocManaged", "flags", number, 1},
    {"cuMemAdvise*", "count", number, 4096},
    {"cuMemPrefetchAsync*", "count", number, 4096},
    {"cuMemRange*", "count", number, 4096},
    {"cuMemAdvise*", "location", number, 1},
    {"cuMemPrefetchAsync*", "location", number, 1},
    {"cuMem*BatchAsync*", "dptrs", managed_list, 0},
    {"cuMem*BatchAsync*", "sizes", numbers64, 64},
    {"cuMem*BatchAsync*", "dsts", address_list, 0},
    {"cuMem*BatchAsync*", "srcs", address_list, 4096},
    {"cuMem*BatchAsync*", "attrs", location, 0}, /* in stream order */
    {"cuMem*BatchAsync*", "prefetchLocs", location, 0},
    {"cuMem*Pool*", "location", location, 0},
    {"cuMemGetAccess", "location", location, 0},
    {"cuMemPoolSetAccess", "map", access_of, 0},
    {"cuMemSetAccess", "desc", access_of, 0},
    {"cuMem*", "prop", pinned_on_device, 0},
    {"cuMemPoolCreate", "poolProps", pinned_on_device, 0},
    {"cuMipmappedArrayCreate", "pMipmappedArrayDesc", array3D, 0},
    {"cuArray3DCreate*", "pAllocateArray", array3D, 0},
    {"cuArrayCreate*", "pAllocateArray", array2D, 0},
    {"cuTexRefSetAddress2D*", "desc", array2D, 0},
    {"cuTexRefSetFormat", "fmt", number, 1},
    {"cuDeviceGetTexture1DLinearMaxWidth", "format", number, 1},
    {"cuTexObject*", "texObject", texture, 0},
    {"cuSurfObject*", "surfObject", surface, 0},
    {"cuMemcpy3DPeer*", "pCopy", peer, 0},
    {"cuMemcpy3D*", "pCopy", copy3D, 0},
    {"cuMemcpy2D*", "pCopy", copy2D, 0},
    {"cu*", "srcDevice", memory, 4096},
    {"cu*", "src", memory, 4096},
    {"cuLaunch*", "kernelParams", parameters, 0},
    {"*", "extra", number, 0},
    {"*", "config", config, 0},
    {"cuFuncSetCacheConfig", "config", number, 1},
    {"cuLaunchHostFunc", "fn", code, 0},
    {"cuStreamAddCallback", "callback", code, 0},
    {"cuUserObjectCreate", "destroy", code, 0},
    {"cuUserObjectCreate", "flags", number, 1},
    {"*", "blockSizeToDynamicSMemSize", number, 0},
    {"cuStreamBatchMemOp*", "paramArray", operation, 0},
    {"cuGraphAddDependencies*", "from", node_at, 0},
    {"cuGraphAddDependencies*", "to", node_at, 2},
    {"cuGraphRemoveDependencies*", "from", node_at, 0},
    {"cuGraphRemoveDependencies*", "to", node_at, 1},
    {"cuGraphAddMemFreeNode", "dependencies", node_at, 1},
    {"cu*", "dependencies", node_at, 0},
    {"cuGraphAddMemFreeNode", "dptr", allocated, 0},
    {"cuGraphAddNode*", "nodeParams", any_node, 0},
    {"cuGraphNodeSetParams", "nodeParams", any_node, 0},
    {"cuGraphExecNodeSetParams", "nodeParams", any_node, 0},
    {"cuGraph*NodeSetParams", "nodeParams", node, 0},
    {"cuGraphAdd*Node*", "nodeParams", node, 0},
    {"cuGraph*SetParams*", "nodeParams", node, 0},
    {"cuGraph*", "copyParams", node, 0},
    {"cuGraph*", "memsetParams", node, 0},
    {"cuGraph*", "childGraph", child, 0},
    {"cuGraphNodeFindInClone", "hClonedGraph", clone_of, 0},
    {"cuTensorMap*", "globalAddress", memory, 0},
    {"cuTensorMap*", "globalDim", numbers64, 64},
    {"cuTensorMap*", "globalStrides", strides, 0},
    {"cuTensorMap*", "boxDim", numbers32, 16},
    {"cuTensorMap*", "elementStrides", numbers32, 1},
    {"cuTensorMapEncodeTiled", "tensorRank", number, 2},
    {"cuTensorMapEncodeIm2colWide", "mode", number, 0},
    {"cuTensorMap*", "tensorRank", number, 3},
    {"*", "ByteCount", number, 64},
    {"*", "N", number, 16},
    {"*", "Width", number, 16},
    {"*", "WidthInBytes", number, 64},
    {"*", "Height", number, 2},
    {"*", "dstPitch", number, 512},
    {"*", "Pitch", number, 512},
    {"*", "ElementSizeBytes", number, 4},
    {"*", "bytesize", number, 4096},
    {"*", "bytes", number, 4096},
    {"*", "blockSize", number, 32},
    {"*", "gridDim?", number, 1},
    {"*", "blockDim?", number, 1},
    {"*", "numBlocks", number, 1},
    {"*", "numChannels", number, 1},
    {"*", "numFunctions", number, 1},
    {"*", "numKernels", number, 1},
    {"*", "numMipmapLevels", number, 2},
    {"*", "numAttributes", number, 1},
    {"*", "numAttrs", number, 1},
    {"*", "numPrefetchLocs", number, 1},
    {"*", "numDependencies", number, 1},
    {"*", "maxAniso", number, 1},
    {"*", "NumPackedComponents", number, 1},
    {"*", "initialRefcount", number, 1},
    {"*", "isEnabled", number, 1},
    {"*", "channelsPerPixel", number, 16},
    {"*", "pixelsPerColumn", number, 16},
    {"*", "count", number, 1},
};

static const struct rule *named_rule(const struct function *f, const struct parameter *p) {
  for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
    if (!strcmp(rules[i].parameter, p->name) || !fnmatch(rules[i].parameter, p->name, 0)) {
      if (!fnmatch(rules[i].function, f->name, 0)) return &rules[i];
    }
  }
  return NULL;
}

static const struct rule *rule_for(const struct function *f, const struct parameter *p) {
  const struct rule *rule = named_rule(f, p);
  if (!rule || p->kind == RESULT) return NULL;
  bool by_pointer = p->kind == POINTER || p->kind == RESULT || p->kind == BLOCK || p->kind == HANDLES;
  /* A rule for a number does not fit a result of the same name, nor a rule for an object a pointer that receives it. */
  bool is_handle = p->kind == HANDLE || p->kind == ENDS;
  if ((is_handle && rule->make == memory) || (by_pointer && rule->make == number && rule->value)) return NULL;
  return p->kind == POINTER && (rule->make == managed || rule->make == physical || rule->make == pooled) ? NULL : rule;
}

static bool is_among(const maker *makers, size_t count, maker one) {
  for (size_t i = 0; i < count; i++) {
    if (makers[i] == one) return true;
  }
  return false;
}
#define IS_AMONG(makers, one) is_among(makers, sizeof makers / sizeof *makers, one)

bool world_can_be_gone(const struct function *f, const struct parameter *p, enum gone what) {
  static const maker alone[] = {context_of_its_own, registered,  physical, reserved, mapped, texture, surface,   child,
                                clone_of,           allocated,   node_at,  copy2D,   copy3D, peer,    operation, resource,
                                address_list,       managed_list};
  static const maker of_context[] = {managed, pinned, pooled, memory};
  static const bool kind_of_context[GRAFT_KINDS] = {[GRAFT_MODULE] = true, [GRAFT_FUNCTION] = true, [GRAFT_STREAM] = true,
                                                    [GRAFT_EVENT] = true,  [GRAFT_ARRAY] = true,    [GRAFT_MIPMAP] = true};
  const struct rule *rule = rule_for(f, p);
  bool is_kernel = !strncmp(f->name, "cuKernel", 8), is_result = !strncmp(f->name, "cuGraphNodeGet", 14);
  if (!rule && (p->kind == HANDLE || p->kind == ENDS)) {
    if (what == NODE_ALONE) return p->handle == GRAFT_NODE;
    return what == OBJECT ? p->handle != GRAFT_SURFREF : kind_of_context[p->handle] && !is_kernel;
  }
  maker make = rule ? rule->make : p->kind == ADDRESS ? memory : number;
  if (what == NODE_ALONE || is_result) return false;
  if (IS_AMONG(of_context, make)) return true;
  if (what == CONTEXT_ALONE) return false;
  if (make == node || make == any_node) return !strstr(f->name, "HostNode") && !strstr(f->name, "MemAllocNode");
  return IS_AMONG(alone, make) || (make == config && !strncmp(f->name, "cuLaunch", 8));
}

static uint64_t right(const struct function *f, const struct parameter *p, uint8_t *at) {
  const struct rule *rule = rule_for(f, p);
  if (rule) return rule->make(f, at, rule->value);
  switch (p->kind) {
    case HANDLE:
    case ENDS: return world_handle(p->handle, f);
    case TEXT: return AT("k");
    case ADDRESS: return world_memory();
    case DEVICE:
    case ENUM:
    case NUMBER: return 0;
    default: return AT(at);
  }
}

void world_argument(const struct function *f, int i, struct arguments *a) {
  const struct parameter *p = &f->parameters[i];
  memset(a->buffer[i], 0, BUFFER_BYTES);
  a->value[i] = right(f, p, a->buffer[i]);
  a->floats[i] = 0;
  if (!strncmp(f->name, "cuLinkAddData", 13) && !strcmp(p->name, "size")) a->value[i] = strlen(world_ptx) + 1;
  /* Room for everything: a query with fewer is a case of its own. */
  if (is_observed(f, p)) put64(a->buffer[i], 0, 100);
}

void world_right(const struct function *f, struct arguments *a) {
  /* A wait for another value than an earlier case has written would not end. */
  if (!strncmp(f->name, "cuStreamWait", 12)) DRIVER(cuMemsetD8_v2, world_memory(), 0, WORLD_MEMORY_BYTES);
  for (int i = 0; i < f->count; i++) world_argument(f, i, a);
}

/* Graphs that copy to pageable memory and from overlapping parts of it. Whatever graphs were made before or are made at the same time,
 * what is copied from there is what was copied there; where Graft has two copies of such memory, a graph that writes it is refused. */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "spin.h"

/* CUDA_MEMCPY3D */
struct copy {
  size_t src_x, src_y, src_z, src_lod;
  unsigned src_type;
  const void *src_host;
  uint64_t src_device;
  void *src_array, *reserved0;
  size_t src_pitch, src_height, dst_x, dst_y, dst_z, dst_lod;
  unsigned dst_type;
  void *dst_host;
  uint64_t dst_device;
  void *dst_array, *reserved1;
  size_t dst_pitch, dst_height, width, height, depth;
};
enum { HOST = 1, DEVICE = 2, NOT_SUPPORTED = 801, ALL = 150 };

int cuCtxGetCurrent(void **context);
int cuMemAlloc_v2(uint64_t *pointer, size_t bytes);
int cuMemsetD8_v2(uint64_t pointer, unsigned char value, size_t bytes);
int cuMemsetD16_v2(uint64_t pointer, unsigned short value, size_t values);
int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t bytes);
int cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t bytes, void *stream);
int cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t bytes, void *stream);
int cuStreamCreate(void **stream, unsigned flags);
int cuStreamSynchronize(void *stream);
int cuStreamBeginCapture_v2(void *stream, int mode);
int cuStreamEndCapture(void *stream, void **graph);
int cuGraphCreate(void **graph, unsigned flags);
int cuGraphAddMemcpyNode(void **node, void *graph, void **dependencies, size_t count, const struct copy *copy, void *context);
int cuGraphAddChildGraphNode(void **node, void *graph, void **dependencies, size_t count, void *child);
int cuGraphChildGraphNodeGetGraph(void *node, void **graph);
int cuGraphClone(void **clone, void *graph);
int cuGraphMemcpyNodeSetParams(void *node, const struct copy *copy);
int cuGraphExecMemcpyNodeSetParams(void *exec, void *node, const struct copy *copy, void *context);
int cuGraphInstantiateWithFlags(void **exec, void *graph, uint64_t flags);
int cuGraphLaunch(void *exec, void *stream);

static void *context, *stream, *spin;
static uint64_t there, back; /* device memory: what is copied to the host, and what is copied from it */
static uint8_t memory[16][4096], *host;

static struct copy down(size_t bytes) {
  return (struct copy){.src_type = DEVICE, .src_device = there, .dst_type = HOST, .dst_host = host,
                       .width = bytes,     .height = 1,         .depth = 1};
}
static struct copy up(const uint8_t *from, size_t bytes) {
  return (struct copy){.src_type = HOST, .src_host = from, .dst_type = DEVICE, .dst_device = back,
                       .width = bytes,   .height = 1,      .depth = 1};
}

/* Adds a copy behind a node, or as the first one. */
static int add(void *graph, void **node, struct copy copy) {
  void *before = *node;
  return cuGraphAddMemcpyNode(node, graph, &before, before != NULL, &copy, context);
}
static void *begin(void **node) {
  void *graph;
  *node = NULL;
  RUN(cuGraphCreate(&graph, 0));
  RUN(add(graph, node, down(100)));
  return graph;
}
static void *instance(void *graph) {
  void *exec;
  RUN(cuGraphInstantiateWithFlags(&exec, graph, 0));
  return exec;
}

/* Memory for the next case, in which all bytes of the host are old and those to be copied there are new. */
static void start(void) {
  static int count;
  host = memory[count++];
  memset(host, 7, ALL);
  RUN(cuMemsetD8_v2(there, 9, ALL));
  RUN(cuMemsetD8_v2(back, 0, ALL));
  RUN(cuCtxSynchronize());
}

/* Says whether these bytes of the host, of which the first 100 are new, have been copied from it. */
static void say(const char *name, int result, size_t from, size_t to) {
  uint8_t found[ALL];
  RUN(cuCtxSynchronize());
  RUN(cuMemcpyDtoH_v2(found, back, to - from));
  bool right = true;
  for (size_t i = from; i < to; i++) right = right && found[i - from] == (i < 100 ? 9 : 7) && host[i] == (i < 100 ? 9 : 7);
  printf("%s: %s\n", name, result == NOT_SUPPORTED ? "refused" : result ? "failed" : right ? "right" : "WRONG");
}

static void run(const char *name, int result, void *graph, size_t from, size_t to) {
  if (!result) RUN(cuGraphLaunch(instance(graph), stream));
  say(name, result, from, to);
}

static void *captured(bool to_host, uint8_t *at, size_t bytes) {
  void *graph;
  RUN(cuStreamBeginCapture_v2(stream, 1));
  RUN(to_host ? cuMemcpyDtoHAsync_v2(at, there, bytes, stream) : cuMemcpyHtoDAsync_v2(back, at, bytes, stream));
  RUN(cuStreamEndCapture(stream, &graph));
  return graph;
}

static void within_one_graph(void) {
  void *node, *graph;
  start();
  graph = begin(&node);
  run("a part of the part", add(graph, &node, up(host + 20, 40)), graph, 20, 60);
  start();
  graph = begin(&node);
  run("another part", add(graph, &node, up(host + 50, 100)), graph, 50, 150);

  /* The second part is within the parts of both earlier graphs. */
  start();
  instance(captured(true, host, 100));
  instance(captured(false, host + 50, 100));
  RUN(cuStreamBeginCapture_v2(stream, 1));
  RUN(cuMemcpyDtoHAsync_v2(host, there, 100, stream));
  int r = cuMemcpyHtoDAsync_v2(back, host + 60, 30, stream);
  RUN(cuStreamEndCapture(stream, &graph));
  run("parts that earlier graphs named", r, graph, 60, 90);

  start();
  graph = begin(&node);
  instance(captured(true, memory[0], 10));
  run("another part, after another graph was made", add(graph, &node, up(host + 50, 100)), graph, 50, 150);
  start();
  graph = begin(&node);
  instance(graph);
  run("another part, after the graph was instantiated", add(graph, &node, up(host + 50, 100)), graph, 50, 150);
}

static void within_copies(void) {
  void *node, *graph, *other, *exec, *child;
  struct copy copy;
  start();
  graph = begin(&node);
  child = captured(false, host + 50, 100);
  run("another part in a child graph", cuGraphAddChildGraphNode(&other, graph, &node, 1, child), graph, 50, 150);
  start();
  graph = begin(&node);
  RUN(cuGraphAddChildGraphNode(&other, graph, &node, 1, captured(false, memory[0], 100)));
  RUN(cuGraphChildGraphNodeGetGraph(other, &child));
  other = NULL;
  run("the same, added to the child graph later", add(child, &other, up(host + 50, 100)), graph, 50, 150);
  start();
  RUN(cuGraphClone(&graph, begin(&node)));
  other = NULL;
  run("another part in a clone", add(graph, &other, up(host + 50, 100)), graph, 50, 150);
  start();
  graph = begin(&node);
  RUN(add(graph, &node, up(memory[0], 100)));
  copy = up(host + 50, 100);
  run("another part by a node's parameters", cuGraphMemcpyNodeSetParams(node, &copy), graph, 50, 150);
  start();
  graph = begin(&node);
  RUN(add(graph, &node, up(memory[0], 100)));
  exec = instance(graph);
  copy = up(host + 50, 100);
  int r = cuGraphExecMemcpyNodeSetParams(exec, node, &copy, context);
  if (!r) RUN(cuGraphLaunch(exec, stream));
  say("another part by those of an executable graph", r, 50, 150);
}

/* Each of the three copies is of other bytes, and the program changes them between two launches. */
static void read_alone(void) {
  static const size_t at[] = {0, 50, 20};
  void *graph, *exec, *node = NULL;
  uint8_t found[ALL];
  bool right = true;
  start();
  RUN(cuGraphCreate(&graph, 0));
  for (int i = 0; i < 3; i++) {
    struct copy copy = up(host + at[i], 50 + 50 * (i == 1));
    copy.dst_device = back + at[i];
    RUN(add(graph, &node, copy));
  }
  exec = instance(graph);
  for (int round = 0; round < 20; round++) {
    for (int i = 0; i < ALL; i++) host[i] = (uint8_t)(round * 17 + i);
    RUN(cuGraphLaunch(exec, stream));
    if (round % 2) RUN(cuStreamSynchronize(stream));
    RUN(cuMemcpyDtoH_v2(found, back, ALL));
    right = right && !memcmp(found, host, ALL);
  }
  printf("parts that are read: %s\n", right ? "right" : "WRONG");
  run("one of them written later", add(graph, &node, down(100)), graph, 0, 0);
  void *other = NULL;
  RUN(add(graph, &other, up(host, 120)));
  printf("and another one read\n");
}

/* The second graph is queued while the first one waits for a kernel. */
static void one_behind_another(void) {
  start();
  void *first = instance(captured(true, host, 100)), *second = instance(captured(false, host + 50, 100));
  launch_spin(spin, 3000000);
  RUN(cuGraphLaunch(first, stream));
  RUN(cuGraphLaunch(second, stream));
  say("parts of two graphs, one behind the other", 0, 50, 150);
}

/* Every other byte changes, and the bytes between have been there before. */
static void in_short_runs(void) {
  enum { BYTES = 20000 };
  static uint8_t many[BYTES];
  struct copy copy = down(BYTES);
  void *graph, *node = NULL;
  RUN(cuMemAlloc_v2(&copy.src_device, BYTES));
  RUN(cuMemsetD16_v2(copy.src_device, 0x0907, BYTES / 2));
  memset(many, 7, BYTES);
  copy.dst_host = many;
  RUN(cuGraphCreate(&graph, 0));
  RUN(add(graph, &node, copy));
  RUN(cuGraphLaunch(instance(graph), stream));
  RUN(cuCtxSynchronize());
  bool right = true;
  for (size_t i = 0; i < BYTES; i++) right = right && many[i] == (i % 2 ? 9 : 7);
  printf("every other byte: %s\n", right ? "right" : "WRONG");
}

int main(void) {
  spin = load_spin();
  RUN(cuCtxGetCurrent(&context));
  RUN(cuStreamCreate(&stream, 0));
  RUN(cuMemAlloc_v2(&there, ALL));
  RUN(cuMemAlloc_v2(&back, ALL));
  within_one_graph();
  within_copies();
  read_alone();
  one_behind_another();
  in_short_runs();
  return 0;
}

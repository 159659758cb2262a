/* Graphs with conditional nodes: which bodies have run, in which order, for values that kernels set and for those that launches begin with. */
#include <stdint.h>
#include <string.h>

#include "check.h"

/* CUgraphNodeParams */
struct node {
  int type, reserved0[3];
  union {
    long long room[29];
    struct { /* CUDA_KERNEL_NODE_PARAMS_v3 */
      void *function;
      unsigned grid[3], block[3], shared;
      void **parameters, **extra, *kernel, *context;
    } kernel;
    struct { /* CUDA_CONDITIONAL_NODE_PARAMS */
      uint64_t handle;
      int type;
      unsigned size;
      void **bodies, *context;
    } conditional;
  } u;
  long long reserved2;
};
enum { KERNEL = 0, CONDITIONAL = 13, IF = 0, WHILE = 1, SWITCH = 2, ASSIGN_DEFAULT = 1, MOST = 60 };

int cuInit(unsigned flags);
int cuDevicePrimaryCtxRetain(void **context, int device);
int cuCtxSetCurrent(void *context);
int cuCtxSynchronize(void);
int cuModuleLoadData(void **module, const void *image);
int cuModuleGetFunction(void **function, void *module, const char *name);
int cuMemAlloc_v2(uint64_t *pointer, size_t bytes);
int cuMemsetD32_v2(uint64_t pointer, unsigned value, size_t values);
int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t bytes);
int cuGraphCreate(void **graph, unsigned flags);
int cuGraphDestroy(void *graph);
int cuGraphClone(void **clone, void *graph);
int cuGraphConditionalHandleCreate(uint64_t *handle, void *graph, void *context, unsigned value, unsigned flags);
int cuGraphAddNode_v2(void **node, void *graph, void **dependencies, const void *edges, size_t count, struct node *node_parameters);
int cuGraphAddChildGraphNode(void **node, void *graph, void **dependencies, size_t count, void *child);
int cuGraphExecNodeSetParams(void *exec, void *node, struct node *node_parameters);
int cuGraphInstantiateWithFlags(void **exec, void *graph, uint64_t flags);
int cuGraphExecDestroy(void *exec);
int cuGraphLaunch(void *exec, void *stream);
int cuGraphGetNodes(void *graph, void **nodes, size_t *count);
int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                   unsigned shared, void *stream, void **parameters, void **extra);
int cuStreamCreate(void **stream, unsigned flags);
int cuStreamBeginCapture_v2(void *stream, int mode);
int cuStreamBeginCaptureToGraph(void *stream, void *graph, void **dependencies, const void *edges, size_t count, int mode);
int cuStreamEndCapture(void *stream, void **graph);
int cuStreamGetCaptureInfo_v2(void *stream, int *status, uint64_t *id, void **graph, const void ***dependencies, size_t *count);
int cuStreamUpdateCaptureDependencies(void *stream, void **dependencies, size_t count, unsigned flags);

static const char PTX[] =
    ".version 8.3\n.target sm_75\n.address_size 64\n"
    ".extern .func cudaGraphSetConditional(.param .b64 handle, .param .b32 value);\n"
    /* condition = *from */
    ".visible .entry set(.param .u64 handle, .param .u64 from) {\n"
    "  .reg .b64 %a<4>; .reg .b32 %v;\n"
    "  ld.param.u64 %a1, [handle]; ld.param.u64 %a2, [from]; cvta.to.global.u64 %a3, %a2; ld.global.u32 %v, [%a3];\n"
    "  { .param .b64 h; st.param.b64 [h], %a1; .param .b32 w; st.param.b32 [w], %v;\n"
    "    call.uni cudaGraphSetConditional, (h, w); }\n"
    "  ret;\n}\n"
    /* condition = --*counter */
    ".visible .entry count_down(.param .u64 handle, .param .u64 counter) {\n"
    "  .reg .b64 %a<4>; .reg .b32 %v;\n"
    "  ld.param.u64 %a1, [handle]; ld.param.u64 %a2, [counter]; cvta.to.global.u64 %a3, %a2;\n"
    "  ld.global.u32 %v, [%a3]; sub.u32 %v, %v, 1; st.global.u32 [%a3], %v;\n"
    "  { .param .b64 h; st.param.b64 [h], %a1; .param .b32 w; st.param.b32 [w], %v;\n"
    "    call.uni cudaGraphSetConditional, (h, w); }\n"
    "  ret;\n}\n"
    /* list[++list[0]] = what */
    ".visible .entry note(.param .u64 list, .param .u32 what) {\n"
    "  .reg .b64 %a<3>; .reg .b32 %v<3>;\n"
    "  ld.param.u64 %a1, [list]; ld.param.u32 %v1, [what]; cvta.to.global.u64 %a1, %a1;\n"
    "  ld.global.u32 %v2, [%a1]; add.u32 %v2, %v2, 1; st.global.u32 [%a1], %v2;\n"
    "  mul.wide.u32 %a2, %v2, 4; add.u64 %a2, %a1, %a2; st.global.u32 [%a2], %v1;\n"
    "  ret;\n}\n";

static void *context, *set, *count_down, *note;
static uint64_t list, number; /* device memory: what has run, and a number of the program's */

/* Adds a kernel of two parameters behind a node, or as the first one. */
static int add_kernel(void **node, void *graph, void *function, void *first, void *second) {
  void *before = *node, *parameters[] = {first, second};
  struct node p = {.type = KERNEL};
  p.u.kernel.function = function;
  for (int i = 0; i < 3; i++) p.u.kernel.grid[i] = p.u.kernel.block[i] = 1;
  p.u.kernel.parameters = parameters;
  return cuGraphAddNode_v2(node, graph, &before, NULL, before != NULL, &p);
}
static void add_note(void **node, void *graph, unsigned what) { RUN(add_kernel(node, graph, note, &list, &what)); }

static int add_conditional(void **node, void *graph, uint64_t handle, int type, unsigned size, void **bodies) {
  void *before = *node;
  struct node p = {.type = CONDITIONAL};
  p.u.conditional.handle = handle;
  p.u.conditional.type = type;
  p.u.conditional.size = size;
  p.u.conditional.context = context;
  int r = cuGraphAddNode_v2(node, graph, &before, NULL, before != NULL, &p);
  if (!r) memcpy(bodies, p.u.conditional.bodies, size * sizeof *bodies);
  return r;
}
static uint64_t condition(void *graph, unsigned value, unsigned flags) {
  uint64_t handle;
  RUN(cuGraphConditionalHandleCreate(&handle, graph, context, value, flags));
  return handle;
}
static void *new_graph(void **node) {
  void *graph;
  *node = NULL;
  RUN(cuGraphCreate(&graph, 0));
  return graph;
}
static void *instance(void *graph) {
  void *exec;
  RUN(cuGraphInstantiateWithFlags(&exec, graph, 0));
  return exec;
}

/* Launches with the program's number, and says what has run. */
static void launch(const char *name, void *exec, unsigned value) {
  unsigned ran[MOST];
  RUN(cuMemsetD32_v2(list, 0, MOST));
  RUN(cuMemsetD32_v2(number, value, 1));
  RUN(cuGraphLaunch(exec, NULL));
  RUN(cuCtxSynchronize());
  RUN(cuMemcpyDtoH_v2(ran, list, sizeof ran));
  printf("%s, %d:", name, (int)value);
  for (unsigned i = 1; i <= ran[0] && i < MOST; i++) printf(" %u", ran[i]);
  puts("");
}

static void choices(const char *name, int type, unsigned size) {
  void *node, *graph = new_graph(&node), *bodies[3];
  uint64_t handle = condition(graph, 0, 0);
  RUN(add_kernel(&node, graph, set, &handle, &number));
  RUN(add_conditional(&node, graph, handle, type, size, bodies));
  add_note(&node, graph, 99);
  for (unsigned i = 0; i < size; i++) {
    void *first = NULL;
    add_note(&first, bodies[i], 10 * i);
    add_note(&first, bodies[i], 10 * i + 1);
  }
  void *exec = instance(graph);
  RUN(cuGraphDestroy(graph));
  for (unsigned value = 0; value < 4; value++) launch(name, exec, value);
  launch(name, exec, -1u);
  RUN(cuGraphExecDestroy(exec));
}

/* A loop that counts down, with a condition in it that is set by what is counted; both begin with values of their own. */
static void loop(void) {
  void *node, *graph = new_graph(&node), *body, *inner, *first = NULL, *last = NULL;
  uint64_t goes_on = condition(graph, 1, ASSIGN_DEFAULT);
  RUN(add_conditional(&node, graph, goes_on, WHILE, 1, &body));
  uint64_t chosen = condition(body, 1, ASSIGN_DEFAULT);
  RUN(add_conditional(&first, body, chosen, IF, 1, &inner));
  RUN(add_kernel(&first, body, count_down, &goes_on, &number));
  RUN(add_kernel(&first, body, set, &chosen, &number));
  add_note(&first, body, 5);
  add_note(&last, inner, 7);
  void *exec = instance(graph);
  launch("while", exec, 3);
  launch("while", exec, 1);
  unsigned what = 8; /* another parameter for a node of a body */
  void *parameters[] = {&list, &what};
  struct node p = {.type = KERNEL};
  p.u.kernel.function = note;
  for (int i = 0; i < 3; i++) p.u.kernel.grid[i] = p.u.kernel.block[i] = 1;
  p.u.kernel.parameters = parameters;
  printf("set in a body: %d\n", cuGraphExecNodeSetParams(exec, last, &p));
  launch("while", exec, 2);
  RUN(cuGraphExecDestroy(exec));
  RUN(cuGraphDestroy(graph));
}

static void *stream;

static int launch_captured(void *function, void *first, void *second) {
  void *parameters[] = {first, second};
  return cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, parameters, NULL);
}

/* A body that is captured, in a loop that is a part of a capture itself. A capture into a graph that is there already returns none. */
static void captured(void) {
  void *graph, *node = NULL, *body;
  uint64_t goes_on;
  int status;
  unsigned what = 1;
  const void **before;
  size_t count;
  RUN(cuStreamBeginCapture_v2(stream, 1));
  RUN(launch_captured(note, &list, &what));
  RUN(cuStreamGetCaptureInfo_v2(stream, &status, NULL, &graph, &before, &count));
  goes_on = condition(graph, 1, ASSIGN_DEFAULT);
  struct node p = {.type = CONDITIONAL};
  p.u.conditional.handle = goes_on;
  p.u.conditional.type = WHILE;
  p.u.conditional.size = 1;
  p.u.conditional.context = context;
  RUN(cuGraphAddNode_v2(&node, graph, (void **)before, NULL, count, &p));
  body = p.u.conditional.bodies[0];
  RUN(cuStreamUpdateCaptureDependencies(stream, &node, 1, 1));
  what = 4;
  RUN(launch_captured(note, &list, &what));
  RUN(cuStreamEndCapture(stream, &graph));

  RUN(cuStreamBeginCaptureToGraph(stream, body, NULL, NULL, 0, 1));
  what = 2;
  RUN(launch_captured(note, &list, &what));
  printf("captured into a body: %d", cuStreamEndCapture(stream, NULL));
  RUN(cuGraphGetNodes(body, NULL, &count));
  printf(" and %d nodes\n", (int)count);
  void *last;
  RUN(cuGraphGetNodes(body, &last, &count));
  RUN(cuStreamBeginCaptureToGraph(stream, body, &last, NULL, 1, 1));
  RUN(launch_captured(count_down, &goes_on, &number));
  void *same;
  printf("captured into a body: %d", cuStreamEndCapture(stream, &same));
  printf(", which is %s\n", same == body ? "the same" : "another");
  void *exec = instance(graph);
  launch("captured", exec, 3);
  RUN(cuGraphExecDestroy(exec));
  RUN(cuGraphDestroy(graph));
}

static void wrong(void) {
  void *node, *graph = new_graph(&node), *other_node, *other = new_graph(&other_node), *bodies[3], *made;
  uint64_t handle = condition(graph, 0, 0);
  printf("a condition of another graph: %d\n", add_conditional(&other_node, other, handle, IF, 1, bodies) != 0);
  other_node = NULL;
  printf("a loop with two bodies: %d\n", add_conditional(&other_node, graph, handle, WHILE, 2, bodies) != 0);
  other_node = NULL;
  RUN(add_conditional(&node, graph, handle, IF, 1, bodies));
  printf("a clone: %d\n", cuGraphClone(&made, graph) != 0);
  printf("a child graph: %d\n", cuGraphAddChildGraphNode(&made, other, NULL, 0, graph) != 0);
  RUN(cuGraphDestroy(graph));
  RUN(cuGraphDestroy(other));
}

int main(void) {
  void *module;
  RUN(cuInit(0));
  RUN(cuDevicePrimaryCtxRetain(&context, 0));
  RUN(cuCtxSetCurrent(context));
  RUN(cuModuleLoadData(&module, PTX));
  RUN(cuModuleGetFunction(&set, module, "set"));
  RUN(cuModuleGetFunction(&count_down, module, "count_down"));
  RUN(cuModuleGetFunction(&note, module, "note"));
  RUN(cuMemAlloc_v2(&list, MOST * sizeof(unsigned)));
  RUN(cuMemAlloc_v2(&number, sizeof(unsigned)));
  choices("if", IF, 1);
  choices("if with else", IF, 2);
  choices("switch", SWITCH, 3);
  loop();
  RUN(cuStreamCreate(&stream, 1));
  captured();
  wrong();
  return 0;
}

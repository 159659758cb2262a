/* Occupancy: the server is asked once for each question. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "api/contexts.h"
#include "api/objects.h"
#include "api/rpc.h"
#include "graft_rpc.h"
#include "module/functions.h"
#include "module/launch.h"

/* The most blocks that a cluster has in width in the question for all widths: cuBLAS asks for 1 to 32. */
#define CLUSTER_WIDTHS 32u

struct graft_answer {
  struct graft_answer *next;
  uint64_t question[3];
  uint64_t value;
};

static bool known(struct graft_object *function, int device, const uint64_t question[3], uint64_t *value) {
  bool found = false;
  pthread_mutex_lock(&function->u.function.lock);
  struct graft_facts *facts = graft_facts(function, device);
  for (struct graft_answer *a = facts ? facts->answers : NULL; a && !found; a = a->next) {
    if (!memcmp(a->question, question, sizeof a->question)) {
      *value = a->value;
      found = true;
    }
  }
  pthread_mutex_unlock(&function->u.function.lock);
  return found;
}

static void learn(struct graft_object *function, int device, const uint64_t question[3], uint64_t value) {
  struct graft_answer *a = malloc(sizeof *a);
  if (!a) return;
  memcpy(a->question, question, sizeof a->question);
  a->value = value;
  pthread_mutex_lock(&function->u.function.lock);
  struct graft_facts *facts = graft_facts(function, device);
  if (facts) {
    a->next = facts->answers;
    facts->answers = a;
  }
  pthread_mutex_unlock(&function->u.function.lock);
  if (!facts) free(a);
}

void graft_answers_forget(struct graft_facts *facts) {
  struct graft_answer *a = facts->answers;
  facts->answers = NULL;
  while (a) {
    struct graft_answer *next = a->next;
    free(a);
    a = next;
  }
}

GRAFT_EXPORT int cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, void *handle, int threads, size_t shared,
                                                                      unsigned int flags) {
  struct graft_object *context, *function = graft_function_of(handle);
  int r = graft_context_need(&context);
  if (r) return r;
  if (!function) return GRAFT_INVALID_HANDLE;
  if (!blocks || flags > 1) return GRAFT_INVALID_VALUE;
  uint64_t question[3] = {1, (uint64_t)(unsigned)threads << 32 | flags, shared}, value;
  if (!known(function, context->u.context.device, question, &value)) {
    r = rpc_cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, threads, shared, flags);
    if (r) return r;
    learn(function, context->u.context.device, question, value = (uint64_t)(unsigned)*blocks);
  }
  *blocks = (int)value;
  return 0;
}

GRAFT_EXPORT int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, void *function, int threads, size_t shared) {
  return cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, threads, shared, 0);
}

GRAFT_EXPORT int cuOccupancyAvailableDynamicSMemPerBlock(size_t *bytes, void *handle, int blocks, int threads) {
  struct graft_object *context, *function = graft_function_of(handle);
  int r = graft_context_need(&context);
  if (r) return r;
  if (!function) return GRAFT_INVALID_HANDLE;
  if (!bytes) return GRAFT_INVALID_VALUE;
  uint64_t question[3] = {2, (uint64_t)(unsigned)threads << 32 | (unsigned)blocks, 0}, value;
  if (!known(function, context->u.context.device, question, &value)) {
    if ((r = rpc_cuOccupancyAvailableDynamicSMemPerBlock(bytes, function, blocks, threads))) return r;
    learn(function, context->u.context.device, question, value = *bytes);
  }
  *bytes = value;
  return 0;
}

/* The bytes that the value of an attribute has, of the 64 of a CUlaunchAttributeValue. Programs leave the others undefined. */
static size_t value_bytes(uint32_t id) {
  static const uint8_t bytes[] = {0, 28, 4, 4, 12, 4, 4, 16, 4, 2, 4, 12, 12, 16, 4, GRAFT_LAUNCH_ATTRIBUTE - 8, 4};
  return id < sizeof bytes ? bytes[id] : GRAFT_LAUNCH_ATTRIBUTE - 8;
}

/* FNV-1a */
static uint64_t hash(uint64_t before, const void *data, size_t bytes) {
  for (size_t i = 0; i < bytes; i++) before = (before ^ ((const uint8_t *)data)[i]) * 0x100000001b3ull;
  return before;
}

struct cluster_question {
  struct graft_launch_config config;
  uint8_t attributes[GRAFT_LAUNCH_ATTRIBUTES * GRAFT_LAUNCH_ATTRIBUTE];
  uint8_t *width; /* where the number of blocks is that a cluster is wide; NULL if it is not the grid's */
  unsigned potential;
};

static int cluster_question(struct cluster_question *q, const void *config, unsigned potential) {
  memcpy(&q->config, config, sizeof q->config);
  q->potential = potential;
  q->width = NULL;
  int r = graft_launch_attributes(&q->config, q->attributes);
  for (unsigned i = 0; !r && i < q->config.count; i++) { /* equal questions differ in undefined bytes */
    uint8_t *attribute = q->attributes + i * GRAFT_LAUNCH_ATTRIBUTE;
    uint32_t id;
    memcpy(&id, attribute, sizeof id);
    memset(attribute + sizeof id, 0, 8 - sizeof id);
    memset(attribute + 8 + value_bytes(id), 0, GRAFT_LAUNCH_ATTRIBUTE - 8 - value_bytes(id));
    if (id == GRAFT_CLUSTER_DIMENSION)
      q->width = memcmp(attribute + 8, q->config.grid, sizeof q->config.grid[0]) ? NULL : attribute + 8;
  }
  return r;
}

/* All that the answer depends on. */
static void cluster_key(const struct cluster_question *q, uint64_t key[3]) {
  key[0] = 3 + q->potential;
  key[1] = hash(0xcbf29ce484222325ull, &q->config, offsetof(struct graft_launch_config, stream));
  key[2] = hash(key[1], q->attributes, (size_t)q->config.count * GRAFT_LAUNCH_ATTRIBUTE);
}

static void widen(struct cluster_question *q, unsigned width) {
  q->config.grid[0] = width;
  memcpy(q->width, &width, sizeof width);
}

/* Asks with one question for clusters of every width, where the grid is as wide as one cluster: libraries ask for one width after another. */
static int ask_widths(struct graft_object *function, int device, struct cluster_question *q, int *value) {
  const struct graft_launch_config *c = &q->config;
  unsigned asked = c->grid[0];
  int errors[CLUSTER_WIDTHS], values[CLUSTER_WIDTHS];
  int r = rpc_graftOccupancyClusters_v2(function, c->grid[1], c->grid[2], c->block[0], c->block[1], c->block[2], c->shared,
                                        q->attributes, c->count, q->potential, errors, values, CLUSTER_WIDTHS);
  if (r) return r;
  for (unsigned i = 0; i < CLUSTER_WIDTHS; i++) {
    uint64_t key[3];
    if (errors[i]) continue;
    widen(q, i + 1);
    cluster_key(q, key);
    learn(function, device, key, (uint64_t)(unsigned)values[i]);
  }
  *value = values[asked - 1];
  return errors[asked - 1];
}

static int clusters(int *result, void *handle, const void *config, unsigned potential) {
  struct graft_object *context, *function = graft_function_of(handle);
  int r = graft_context_need(&context);
  if (r) return r;
  if (!function) return GRAFT_INVALID_HANDLE;
  if (!result || !config) return GRAFT_INVALID_VALUE;
  struct cluster_question q;
  uint64_t key[3], value;
  if ((r = cluster_question(&q, config, potential))) return r;
  int device = context->u.context.device, answer;
  cluster_key(&q, key);
  if (known(function, device, key, &value)) {
    *result = (int)value;
    return 0;
  }
  const struct graft_launch_config *c = &q.config;
  if (q.width && c->grid[0] - 1 < CLUSTER_WIDTHS) {
    r = ask_widths(function, device, &q, &answer);
  } else {
    r = rpc_graftOccupancyClusters(function, c->grid[0], c->grid[1], c->grid[2], c->block[0], c->block[1], c->block[2], c->shared,
                                   q.attributes, c->count, potential, &answer);
    if (!r) learn(function, device, key, (uint64_t)(unsigned)answer);
  }
  if (!r) *result = answer;
  return r;
}

GRAFT_EXPORT int cuOccupancyMaxActiveClusters(void *count, void *function, void *config) {
  return clusters(count, function, config, 0);
}
GRAFT_EXPORT int cuOccupancyMaxPotentialClusterSize(void *size, void *function, void *config) {
  return clusters(size, function, config, 1);
}

/* The launch configuration with the best occupancy: blocks of every multiple of the warp size are tried, as the runtime's
 * own occupancy calculator does; the callback is the program's and runs here. */
GRAFT_EXPORT int cuOccupancyMaxPotentialBlockSizeWithFlags(void *min_grid, void *block, void *handle, void *size_of, size_t shared,
                                                           int limit, unsigned int flags) {
  struct graft_object *context, *function = graft_function_of(handle);
  int r = graft_context_need(&context);
  if (r) return r;
  if (!function) return GRAFT_INVALID_HANDLE;
  if (!min_grid || !block || limit < 0 || flags > 1) return GRAFT_INVALID_VALUE;
  int device = context->u.context.device, most, warp, processors, per_processor;
  if ((r = graft_function_attribute(function, 0, device, &most)) || (r = cuDeviceGetAttribute(&warp, 10, device)) ||
      (r = cuDeviceGetAttribute(&processors, 16, device)) || (r = cuDeviceGetAttribute(&per_processor, 39, device))) {
    return r;
  }
  if (limit > 0 && limit < most) most = limit;
  int best = 0, best_block = 0, best_count = 0;
  for (int threads = (most + warp - 1) / warp * warp; threads > 0; threads -= warp) {
    int tried = threads < most ? threads : most, blocks;
    size_t bytes = shared;
    if (size_of) {
      size_t (*call)(int);
      memcpy(&call, &size_of, sizeof call);
      bytes = call(tried);
    }
    if ((r = cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, function, tried, bytes, flags))) return r;
    if (tried * blocks > best) {
      best = tried * blocks;
      best_block = tried;
      best_count = blocks;
    }
    if (best >= per_processor) break;
  }
  *(int *)min_grid = best_count * processors;
  *(int *)block = best_block;
  return 0;
}

GRAFT_EXPORT int cuOccupancyMaxPotentialBlockSize(void *min_grid, void *block, void *function, void *size_of, size_t shared,
                                                  int limit) {
  return cuOccupancyMaxPotentialBlockSizeWithFlags(min_grid, block, function, size_of, shared, limit, 0);
}

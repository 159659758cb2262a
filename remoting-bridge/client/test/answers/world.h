/* The objects that right arguments need: world.c makes them, right.c chooses among them. */
#ifndef GRAFT_ANSWERS_WORLD_H
#define GRAFT_ANSWERS_WORLD_H

#include "answers.h"

/* Calls a function of the driver; all of its arguments are integers or pointers. */
#define DRIVER(name, ...) world_call(#name, (uint64_t[MAX_PARAMETERS]){__VA_ARGS__})
#define AT(value) ((uint64_t)(uintptr_t)(value))
int world_call(const char *name, const uint64_t *arguments);

extern const char world_ptx[];
const char *world_file(void); /* its file */

/* A graph of three nodes in a chain, of which the second has the type that the function's name contains. */
struct world_graph {
  uint64_t graph, nodes[3], exec, child, clone, address;
};
const struct world_graph *world_graph(const struct function *function);

uint64_t world_context(void); /* becomes current */
uint64_t world_managed(void);
uint64_t world_pinned(void);
uint64_t world_registered(void);
uint64_t world_page(void); /* not registered */
uint64_t world_pooled(void);
uint64_t world_physical(void);
uint64_t world_reserved(void);
uint64_t world_mapped(void);
uint64_t world_texture(void);
uint64_t world_surface(void);

/* right.c: the right argument for a parameter; structures, in a buffer of zeros */
void world_argument(const struct function *function, int parameter, struct arguments *arguments);
void fill_node(const char *function, uint8_t *at, const struct world_graph *graph);

static inline void put32(uint8_t *at, size_t offset, uint32_t value) { __builtin_memcpy(at + offset, &value, 4); }
static inline void put64(uint8_t *at, size_t offset, uint64_t value) { __builtin_memcpy(at + offset, &value, 8); }

#endif

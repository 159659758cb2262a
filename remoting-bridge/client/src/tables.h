/* Private tables (cuGetExportTable) and context-local storage. */
#ifndef GRAFT_TABLES_H
#define GRAFT_TABLES_H

#include <stddef.h>
#include <stdbool.h>
#include <stdint.h>

struct graft_object;

/* Runs the destructors of what was stored for a context that ends. */
void graft_storage_drop(struct graft_object *context);
/* CUDA_SUCCESS once cuInit has succeeded in this process. */
int graft_ready(void);
/* A module's functions, as far as they fit; count says how many there are. */
int graft_module_functions(void *module, void **functions, unsigned int room, unsigned int *count);
struct graft_layout;
/* A function's parameters, asked for if they are not known yet. */
int graft_function_layout(struct graft_object *function, const struct graft_layout **layout);
/* What is known of a function on one device: attributes can be set there and not elsewhere, and devices differ. */
struct graft_answer;
struct graft_facts {
  struct graft_facts *next;
  int device;
  uint32_t known; /* a bit an attribute */
  int attribute[24];
  struct graft_answer *answers; /* of occupancy */
};
/* The caller holds the function's lock; NULL when memory is short. */
struct graft_facts *graft_facts(struct graft_object *function, int device);
/* Forgets the remembered occupancy answers. The caller holds the function's lock or is its last user. */
void graft_answers_forget(struct graft_facts *facts);
/* Packs a kernel's parameters into room for 32 KiB, or points at the program's own buffer. */
int graft_launch_pack(struct graft_object *function, void **parameters, void **extra, uint8_t *room, const uint8_t **data,
                      unsigned *bytes);
/* Makes a CUDA_MEMCPY3D fit for a graph: arrays beside it, host memory replaced by what the device can see of it. */
int graft_copy_of_graph(uint8_t copy[200], void **source, void **target);
void graft_copy_set_arrays(uint8_t copy[200], void *source, void *target);
/* Device memory that a graph's node allocates. */
void graft_memory_of_graph(uint64_t address, size_t bytes);
/* Ends managed memory; INVALID_VALUE if the pointer is none. */
int graft_managed_free(uint64_t pointer);
/* Options of the JIT compiler: those that point at the program's memory stay here. */
#define GRAFT_JIT_OPTIONS 64
struct graft_jit {
  uint64_t words[2 * GRAFT_JIT_OPTIONS];
  unsigned used;
  char *info, *error;
  size_t info_room, error_room; /* 0 without that log */
  void **info_size, **error_size;
};
int graft_jit_read(struct graft_jit *jit, unsigned int count, const int *options, void **values);
/* What code compiled for the context's device depends on; false if the device is not known. */
struct graft_jit_target;
bool graft_jit_target_of(struct graft_object *context, struct graft_jit_target *target);
/* Has the server's driver compile one image, as graft_jit_compile says. */
int graft_link_one(int type, const void *image, size_t bytes, const uint64_t *words, unsigned used, void **code, size_t *size);
/* A file's contents, NULL if it cannot be read. */
void *graft_read_file(const char *path, size_t *bytes);
/* A node belongs to a graph, and ends with it. */
void graft_node_of(void *node, void *graph);
/* What one graph or executable graph holds, another holds too. */
void graft_user_objects_copy(void *to, void *from);
struct graft_held;
void graft_user_objects_drop(struct graft_held **list);

#endif

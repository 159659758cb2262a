/* The client's information on kernels: parameters, attributes, occupancy. */
#ifndef GRAFT_FUNCTIONS_H
#define GRAFT_FUNCTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct graft_answer;
struct graft_layout;
struct graft_object;

/* A server may answer as many: more than CUDA 13 has, so that those of a later driver are among them. */
#define GRAFT_FUNCTION_ATTRIBUTES 24

/* The information on a function on one device, since attributes are set for each device, and devices differ. */
struct graft_facts {
  struct graft_facts *next;
  int device;
  bool asked;     /* whether the server was asked for all attributes */
  uint32_t known; /* a bit an attribute */
  int attribute[GRAFT_FUNCTION_ATTRIBUTES];
  struct graft_answer *answers; /* of occupancy */
};

/* The function behind a handle; NULL if the handle is none, or that of a function whose module has ended with its context. */
struct graft_object *graft_function_of(const void *handle);
/* The caller holds the function's lock; NULL when memory is short. */
struct graft_facts *graft_facts(struct graft_object *function, int device);
/* Forgets the remembered occupancy answers. The caller holds the function's lock or is its last user. */
void graft_answers_forget(struct graft_facts *facts);
/* Remembers the attributes whose bits are in the server's mask, except those that are known: the program may have set them since. The caller
 * holds the function's lock, or is the only one who has the function. */
void graft_facts_learn(struct graft_facts *facts, uint32_t mask, const int *values);
int graft_function_attribute(struct graft_object *function, int attribute, int device, int *value);
/* A function's parameters, which the client requests from the server the first time. */
int graft_function_layout(struct graft_object *function, const struct graft_layout **layout);
/* As many of a module's functions as there is room for; count is how many there are. */
int graft_module_functions(void *module, void **functions, unsigned int room, unsigned int *count);
/* Discards the client's information on a function: its name, its parameters, its attributes. */
void graft_function_forget(struct graft_object *function);
/* Frees the functions of a module or library that is unloaded. */
void graft_functions_drop(struct graft_object *owner);
/* Packs a kernel's parameters into room for 32 KiB, or points at the program's own buffer. */
int graft_launch_pack(struct graft_object *function, void **parameters, void **extra, uint8_t *room, const uint8_t **data,
                      unsigned *bytes);

#endif

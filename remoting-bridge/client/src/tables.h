/* Private tables (cuGetExportTable) and context-local storage. */
#ifndef GRAFT_TABLES_H
#define GRAFT_TABLES_H

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
/* Forgets the remembered occupancy answers. The caller holds the function's lock or is its last user. */
void graft_answers_forget(struct graft_object *function);

#endif

/* Context-local storage, which a private table gives the CUDA runtime. */
#ifndef GRAFT_STORAGE_H
#define GRAFT_STORAGE_H

struct graft_object;

/* Runs the destructors of what was stored for a context that ends. */
void graft_storage_drop(struct graft_object *context);

#endif

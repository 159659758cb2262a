/* Context-local storage, which the CUDA runtime uses by a private table. */
#ifndef GRAFT_STORAGE_H
#define GRAFT_STORAGE_H

struct graft_object;

/* Runs the destructors of the values stored for a context that ends. */
void graft_storage_drop(struct graft_object *context);

#endif

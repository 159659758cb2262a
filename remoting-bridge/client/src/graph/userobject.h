/* User objects: what the program has a graph keep alive. */
#ifndef GRAFT_USEROBJECT_H
#define GRAFT_USEROBJECT_H

struct graft_held;

/* What one graph or executable graph holds, another holds too. */
void graft_user_objects_copy(void *to, void *from);
void graft_user_objects_drop(struct graft_held **list);

#endif

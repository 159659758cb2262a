/* User objects, which graphs keep alive for the program. */
#ifndef GRAFT_USEROBJECT_H
#define GRAFT_USEROBJECT_H

struct graft_held;

/* Has a graph or executable graph hold all that another one holds. */
void graft_user_objects_copy(void *to, void *from);
void graft_user_objects_drop(struct graft_held **list);

#endif

/* Libraries and their kernels at several servers. A library is loaded without a context, and its kernels can be launched on any device.
 * A program that uses several servers has one handle for each; the client loads the library's image at a further server when the library
 * is first used there, and finds the kernel by its name. What is loaded there is the counterpart. */
#ifndef GRAFT_COUNTERPARTS_H
#define GRAFT_COUNTERPARTS_H

#include <stdbool.h>
#include <stddef.h>

struct graft_counterpart;
struct graft_kept_image;
struct graft_object;
struct graft_session;

/* The library or kernel in a session: the object itself if it belongs to that session, is a module's function, or cannot be loaded there. */
struct graft_object *graft_counterpart(struct graft_object *object, const struct graft_session *session);
/* Keeps the image of a new library: a copy, unless the program keeps it as long as the library (a wrapper's). Does nothing in a program with one server. */
void graft_counterparts_keep(struct graft_object *library, const void *image, size_t bytes, bool stays);
/* Unloads the counterparts of a library that is unloaded. */
void graft_counterparts_unload(struct graft_object *library);
void graft_counterparts_forget(struct graft_counterpart *counterparts);

#endif

/* NVIDIA's tools that look into a program on a GPU: they need the driver itself, so that they are told once, on stderr, what to use instead. */
#ifndef GRAFT_TOOLS_H
#define GRAFT_TOOLS_H

#include <stdbool.h>

/* Whether a library is one of such a tool, by its file's name. */
bool graft_is_tool(const char *path);
/* A library whose code is at this address has asked for a private table that the client does not have. */
void graft_tools_asked(const void *code);
/* The program has initialized CUDA. */
void graft_tools_begin(void);

#endif

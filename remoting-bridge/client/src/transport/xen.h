/* Linux's devices for guests of Xen. The kernel's headers require two types of the file that includes them. */
#ifndef GRAFT_XEN_H
#define GRAFT_XEN_H

#include <stdint.h>

typedef uint16_t domid_t;
typedef uint32_t grant_ref_t;

#include <xen/evtchn.h>
#include <xen/gntdev.h>

#endif

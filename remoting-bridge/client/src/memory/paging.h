/* Memory whose pages are taken away and come back when somebody touches them: a thread that does waits, also within a system
 * call where the kernel allows that to this process (userfaultfd). */
#ifndef GRAFT_PAGING_H
#define GRAFT_PAGING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Starts it, once. at_once is asked first and must not wait for anything; if it is false, touched is called on a thread that
 * may. One of them puts the page there. False if the kernel refuses; a line has said why then. */
bool graft_paging_start(bool (*at_once)(uint64_t address, pid_t thread), void (*touched)(uint64_t address));
/* From now on its pages can be taken; whole pages of private memory. */
bool graft_paging_watch(void *memory, size_t bytes);
/* Takes all pages, in one step for whoever writes to them, and returns them elsewhere: to be unmapped. NULL if it fails. */
void *graft_paging_take(void *memory, size_t bytes);
/* Puts pages where none are; the threads that wait for them go on. */
void graft_paging_put(void *at, const void *from, size_t bytes);
/* Threads that wait for a page that is there by now go on. */
void graft_paging_wake(uint64_t address);

#endif

/* Memory whose pages can be taken from the program. A thread that touches such a page waits until it is put back (userfaultfd), even in a system call, if the kernel allows this process to handle those faults. */
#ifndef GRAFT_PAGING_H
#define GRAFT_PAGING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Starts the threads, once. For a touched page at_once is called first, which must not wait for anything; if it returns false, touched is called on a thread that may wait. One of them puts the page back. False if the kernel refuses, with a line on stderr. */
bool graft_paging_start(bool (*at_once)(uint64_t address, pid_t thread), void (*touched)(uint64_t address));
/* Allows the pages of this private memory to be taken. Address and size are multiples of a page. */
bool graft_paging_watch(void *memory, size_t bytes);
/* Takes all pages in one step, and returns them at another address; the caller unmaps them. NULL if that fails. */
void *graft_paging_take(void *memory, size_t bytes);
/* Puts pages where there are none, and wakes the threads that wait for them. */
void graft_paging_put(void *at, const void *from, size_t bytes);
/* Wakes threads that wait for a page that is there. */
void graft_paging_wake(uint64_t address);

#endif

/* kTLS: the kernel makes the records of what is sent over a TCP connection, in the calls that send it, from the caller's memory (Linux's
 * Documentation/networking/tls.rst). What is received stays with tls_record.c, so that the kernel parses no record that another machine
 * has made. Tells the reason where the kernel cannot; until its first key is set, the socket sends bytes as they are.
 */
#ifndef GRAFT_KTLS_H
#define GRAFT_KTLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "transport/tls_record.h"

/* Has the kernel encrypt with this key, from its next record on, all that send(2) is given. Only where the kernel can replace the key later.
 * False with a reason, and the socket is as before. */
bool graft_ktls_begin(int fd, const struct graft_tls_key *key, char *reason, size_t size);
/* Sends what is no data, in a record of this type. */
bool graft_ktls_message(int fd, uint8_t type, const void *message, size_t bytes);
/* Sets the key of the records that follow. */
bool graft_ktls_set_key(int fd, const struct graft_tls_key *key);

#endif

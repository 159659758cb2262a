/* TLS 1.3 on a socket whose ends have authenticated each other. Both ends of a session use this: the client, and the server's worker
 * as libgraft-transport.so. The ends prove by an external pre-shared key (RFC 8446, 2.2) that they hold the session's secret, and agree on
 * fresh keys by Diffie-Hellman, so that a token that leaks later reads no recorded session. There are no certificates: an end without the key
 * cannot complete the handshake.
 *
 * OpenSSL is opened when it is first needed (tls_library.c). It performs the handshake; records are tls_record.c's, or, of what is sent, the
 * kernel's (ktls.h). One thread at a time may send and one receive.
 */
#ifndef GRAFT_TLS_H
#define GRAFT_TLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define GRAFT_TLS_API __attribute__((visibility("default")))
#define GRAFT_TLS_KEY 32 /* bytes of the pre-shared key */

struct graft_tls;

/* Whether this machine has an OpenSSL that can be used. False with a reason that names the packages. */
GRAFT_TLS_API bool graft_tls_present(char *reason, size_t size);
/* Performs the handshake with the other end, which calls the same function with the other role, within a time limit. The socket stays the
 * caller's. NULL with a reason. */
GRAFT_TLS_API struct graft_tls *graft_tls_open(int fd, bool server, const uint8_t *key, int milliseconds, char *reason,
                                               size_t size);
/* The same in two parts: the client's greeting is sent, and the other end's answer is awaited. Between the two the socket may carry other bytes to
 * this end, and none from it. The key is not used again. NULL with a reason; false with a reason, and the caller closes. */
struct graft_tls *graft_tls_begin(int fd, bool server, const uint8_t *key, char *reason, size_t size);
bool graft_tls_finish(struct graft_tls *tls, int milliseconds, char *reason, size_t size);
/* Has the kernel encrypt what is sent from here on, if it can; called by the sending thread, on a connection that stays TLS until the socket is
 * closed. False with a reason, and this process goes on encrypting. */
GRAFT_TLS_API bool graft_tls_send_by_kernel(struct graft_tls *tls, char *reason, size_t size);
/* Receives what has arrived, as recv(2) with MSG_DONTWAIT: -1 with EAGAIN if no whole record has, 0 if the other end has closed the
 * connection, -1 with EPROTO if a record is not the other end's. */
GRAFT_TLS_API ssize_t graft_tls_try(struct graft_tls *tls, void *to, size_t bytes);
/* The same, and waits for at least one byte. After an error the memory may hold anything. */
GRAFT_TLS_API ssize_t graft_tls_receive(struct graft_tls *tls, void *to, size_t bytes);
/* Sends all bytes, and returns their number; -1 if the connection is broken. With "more", they may leave only with what is sent next. */
GRAFT_TLS_API ssize_t graft_tls_send(struct graft_tls *tls, const void *data, size_t bytes, bool more);
/* Sends new keys (KeyUpdate; RFC 8446, 4.6.3) after so many records. Without this, after as many as AES-GCM allows. */
void graft_tls_limit_key(struct graft_tls *tls, uint64_t records);
/* No thread may be in any other function. NULL is allowed. */
GRAFT_TLS_API void graft_tls_close(struct graft_tls *tls);

#endif

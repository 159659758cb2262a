/* How two machines authenticate each other by certificates, in place of a guest's token: TLS 1.3 with the certificates of both on the socket,
 * between the server's challenge and the client's proof (handshake.c). It carries nothing. Its exporter (RFC 8446, 7.5) gives both ends one
 * secret, with which they go on as with a token. Both ends use this: the client, and the server's own process as libgraft-transport.so.
 *
 * The files lie as libvirt has them (libvirt's tlscerts.rst), below a folder that is usually /etc/pki: CA/cacert.pem, CA/cacrl.pem if there are
 * revoked certificates, and libvirt/clientcert.pem with libvirt/private/clientkey.pem, or libvirt/servercert.pem with
 * libvirt/private/serverkey.pem.
 */
#ifndef GRAFT_CERTIFICATES_H
#define GRAFT_CERTIFICATES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "transport/tls.h"

#define GRAFT_NODE_SECRET 32            /* bytes */
#define GRAFT_LARGEST_CERTIFICATE 16384 /* bytes of all that an end may send, with the certificates of authorities between */

struct graft_certificates;

/* What an end knows of the other one afterwards. */
struct graft_node {
  uint8_t secret[GRAFT_NODE_SECRET];
  uint32_t bytes;                                 /* of the certificate */
  uint8_t certificate[GRAFT_LARGEST_CERTIFICATE]; /* DER */
};

enum graft_node_result {
  GRAFT_NODE_BROKEN,  /* the other end does not speak TLS 1.3, has no certificate, refuses this end's, was too slow, or is gone */
  GRAFT_NODE_REFUSED, /* its certificate is not valid */
  GRAFT_NODE_KNOWN,
};

/* Reads the files of one end: of the client, which passes the host that it dials and for which the server's certificate has to be, or of the
 * server, which passes NULL. They are read again for each connection, so that renewed certificates and revocations need no restart. NULL with a
 * reason that names the file. */
GRAFT_TLS_API struct graft_certificates *graft_certificates_open(const char *folder, const char *host, char *reason, size_t size);
/* Performs the handshake within a time limit. Reads nothing that follows it. A client ends the handshake at a certificate that it refuses; a
 * server completes it, so that it can say why. The result is of graft_node_result; the reason is set unless the other end is known. */
GRAFT_TLS_API int graft_certificates_authenticate(const struct graft_certificates *own, int fd, int milliseconds,
                                                  struct graft_node *node, char *reason, size_t size);
/* NULL is allowed. */
GRAFT_TLS_API void graft_certificates_close(struct graft_certificates *own);

#endif

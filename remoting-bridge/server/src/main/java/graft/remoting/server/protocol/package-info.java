/**
 * What client and server have to agree on before a session's first record: the layout of the
 * handshake's messages, the kinds of connections, and the error for a client that violates the
 * protocol.
 */
package graft.remoting.server.protocol;

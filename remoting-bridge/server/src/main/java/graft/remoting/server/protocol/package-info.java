/**
 * What client and server agree on before a session's first record: the layout of the handshake's
 * messages, the kinds of connections, and the error for a client that breaks the protocol.
 */
package graft.remoting.server.protocol;

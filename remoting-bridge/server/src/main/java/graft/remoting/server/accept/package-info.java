/**
 * The way of a connection to its session: listening, the handshake that authenticates the client,
 * and the gate that hands the connection to a worker.
 */
package graft.remoting.server.accept;

/**
 * The messages between the server and a worker on their private socket. A worker may be
 * compromised, so that the server checks what it reads here.
 */
package graft.remoting.server.control;

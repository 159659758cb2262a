/**
 * What the server's process and a worker say to each other over their private socket. A worker may
 * be hostile, so that the server checks what it reads here.
 */
package graft.remoting.server.control;

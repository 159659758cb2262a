/**
 * The server: {@link graft.remoting.server.ServerMain} reads the options, {@link
 * graft.remoting.server.GraftServer} puts the parts together. The server's process accepts clients
 * and has no CUDA in it; each session runs in a worker process of its own.
 */
package graft.remoting.server;

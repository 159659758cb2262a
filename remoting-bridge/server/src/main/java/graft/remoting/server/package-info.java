/**
 * The server: {@link graft.remoting.server.ServerMain} reads the options, and {@link
 * graft.remoting.server.GraftServer} connects the parts. The server's own process accepts clients
 * and never loads CUDA; each session runs in a worker process.
 */
package graft.remoting.server;

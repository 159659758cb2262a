/**
 * The C library as far as the server needs it: sockets, descriptors and memory at native addresses.
 * All other packages build on this one; it knows nothing of CUDA or of sessions.
 */
package graft.remoting.server.system;

/**
 * The C library as far as the server needs it: sockets, descriptors and memory at native addresses.
 * Everything else stands on this package; it knows nothing of CUDA or of sessions.
 */
package graft.remoting.server.system;

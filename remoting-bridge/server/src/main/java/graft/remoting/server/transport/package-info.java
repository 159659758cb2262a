/**
 * The transports that move bytes between client and worker: sockets, rings in shared memory, a
 * guest's memory, Xen's vchan, and UCX. A new transport implements {@link
 * graft.remoting.server.transport.Transport}, and {@code worker.WorkerSession} opens it.
 */
package graft.remoting.server.transport;

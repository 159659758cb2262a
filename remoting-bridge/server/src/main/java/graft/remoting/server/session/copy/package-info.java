/**
 * Copies between client and device: through pinned buffers, directly to memory that the channel can
 * access, and through memory that both processes share.
 */
package graft.remoting.server.session.copy;

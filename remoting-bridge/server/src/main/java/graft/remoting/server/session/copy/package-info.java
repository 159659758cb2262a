/**
 * Copies between client and device: through pinned buffers, straight to memory that the channel
 * reaches, and through memory that both share.
 */
package graft.remoting.server.session.copy;

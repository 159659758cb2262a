/**
 * Shares of a GPU's time: whose turn it is, and for how long. {@link
 * graft.remoting.server.share.FairQueue} is the algorithm.
 */
package graft.remoting.server.share;

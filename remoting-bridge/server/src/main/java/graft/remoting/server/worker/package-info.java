/**
 * A worker process from start to end: it opens its device, runs the warm-up until a client
 * connects, executes the session's records, and exits.
 */
package graft.remoting.server.worker;

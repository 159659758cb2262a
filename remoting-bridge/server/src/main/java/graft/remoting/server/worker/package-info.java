/**
 * A worker process from start to end: it opens its device, warms up until a client comes, executes
 * the session's records, and leaves.
 */
package graft.remoting.server.worker;

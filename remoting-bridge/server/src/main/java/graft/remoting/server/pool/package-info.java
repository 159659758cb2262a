/**
 * The worker processes, from their start to their end, and what the server keeps for the sessions
 * of a name.
 */
package graft.remoting.server.pool;

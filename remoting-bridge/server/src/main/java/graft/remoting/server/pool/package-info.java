/**
 * The worker processes: kept ready, started, heard and buried, and what the server keeps for the
 * sessions of a name.
 */
package graft.remoting.server.pool;

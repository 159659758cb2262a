/**
 * What the sessions of one name leave with the server for each other: handles of memory and events,
 * and code. The interfaces are the session's; the server's side is in the pool.
 */
package graft.remoting.server.exchange;

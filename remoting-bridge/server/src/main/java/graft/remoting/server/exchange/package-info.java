/**
 * What the sessions of one name share through the server: handles of memory and events, and code.
 * Sessions use these interfaces; the server's side is in the pool.
 */
package graft.remoting.server.exchange;

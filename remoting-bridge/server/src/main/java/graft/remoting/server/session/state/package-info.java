/**
 * What a session keeps between calls: the current context with its events and buffers, the answers
 * that it owes, reads under way, threads that wait, and host functions.
 */
package graft.remoting.server.session.state;

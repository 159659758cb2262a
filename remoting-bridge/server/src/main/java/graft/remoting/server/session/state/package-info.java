/**
 * What a session keeps between calls: the current context with its events and buffers, the replies
 * that it owes, asynchronous reads, waiting threads, and host functions.
 */
package graft.remoting.server.session.state;

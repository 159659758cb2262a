/**
 * What operators ask a running server for, and its answers: one JSON object each, over a Unix
 * socket.
 */
package graft.remoting.server.operate;

/**
 * What a session talks over: a channel with its records and replies, and further data connections
 * that share its bulk data. {@code IncomingData} is what comes in, {@code OutgoingData} what goes
 * out, {@code Polling} how threads wait.
 */
package graft.remoting.server.connection;

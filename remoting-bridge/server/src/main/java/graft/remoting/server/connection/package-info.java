/**
 * The connections of a session: a channel with its records and replies, and data connections that
 * share its bulk data. {@code IncomingData} receives, {@code OutgoingData} sends, and {@code
 * Polling} says how their threads wait.
 */
package graft.remoting.server.connection;

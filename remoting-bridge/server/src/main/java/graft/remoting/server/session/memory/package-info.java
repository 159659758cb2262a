/**
 * What addresses and numbers a session may name, and how much memory it has: the device as seen
 * through these.
 */
package graft.remoting.server.session.memory;

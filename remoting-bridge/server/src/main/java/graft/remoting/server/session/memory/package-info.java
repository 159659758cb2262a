/**
 * The addresses and numbers that a session may name, and its limit of memory, as layers around the
 * device.
 */
package graft.remoting.server.session.memory;

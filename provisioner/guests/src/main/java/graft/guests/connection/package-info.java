/** Reaching into a running guest: its agent, or SSH. */
package graft.guests.connection;

/** Guest connections: the guest agent, or SSH. */
package graft.guests.connection;

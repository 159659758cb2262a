/** Guest connections by the guest agent or by SSH. */
package graft.guests.connection;

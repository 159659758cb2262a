/** Machines that Graft did not make: what they are, and how they get back what they had. */
package graft.guests.machine;

/** Copies of folders between this machine and a guest. */
package graft.guests.copy;

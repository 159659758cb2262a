/** Images that guests boot: built or imported, and kept with their checksums. */
package graft.guests.image;

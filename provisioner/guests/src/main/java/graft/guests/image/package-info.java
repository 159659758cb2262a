/** Images that guests boot: built, imported, kept with their checksums. */
package graft.guests.image;

/** The payload of a guest, and its formats: initramfs, seed image, tar archive. */
package graft.guests.payload;

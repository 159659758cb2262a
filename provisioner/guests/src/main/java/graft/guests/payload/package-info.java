/** What is put into a guest, and the forms in which it gets there: initramfs, seed image. */
package graft.guests.payload;

package graft.guests.payload;

/**
 * A file as it will be in a guest, owned by root.
 *
 * @param path absolute
 * @param mode permission bits
 */
public record GuestFile(String path, int mode, Content content) {}

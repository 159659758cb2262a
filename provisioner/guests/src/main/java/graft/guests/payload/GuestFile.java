package graft.guests.payload;

/**
 * A file as it will be in a guest, owned by root.
 *
 * @param path the absolute path in the guest
 * @param mode permission bits
 */
public record GuestFile(String path, int mode, Content content) {}

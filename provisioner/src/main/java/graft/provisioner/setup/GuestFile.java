package graft.provisioner.setup;

/** A file as it will be in a guest, owned by root. */
public final class GuestFile {
  private final String path;
  private final int mode;
  private final byte[] content;

  /**
   * A file.
   *
   * @param path absolute
   * @param mode permission bits
   * @param content not copied: files may be large
   */
  public GuestFile(String path, int mode, byte[] content) {
    this.path = path;
    this.mode = mode;
    this.content = content;
  }

  public String path() {
    return path;
  }

  public int mode() {
    return mode;
  }

  byte[] content() {
    return content;
  }
}

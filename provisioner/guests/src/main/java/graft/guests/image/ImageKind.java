package graft.guests.image;

/** What an image is: both kinds of an image may be kept under one name. */
public enum ImageKind {
  /** A disk that a virtual machine boots. */
  DISK("qcow2"),

  /** The root file system that a container begins with, as a tar archive. */
  ROOT("tar");

  private final String suffix;

  ImageKind(String suffix) {
    this.suffix = suffix;
  }

  /** The suffix of the image's file. */
  String suffix() {
    return suffix;
  }
}

package graft.deployment.observe;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/** The beginning of a qcow2 image (QEMU docs/interop/qcow2.txt). */
public final class QcowHeader {
  /** "QFI\xfb". */
  private static final int MAGIC = 0x514649fb;

  private static final int DISK_SIZE_AT = 24;

  private QcowHeader() {}

  /**
   * The size of the disk that a file is an image of, in bytes.
   *
   * @return empty if the file is no qcow2 image; 0 if its header is damaged
   */
  public static Optional<Long> diskSize(Path file) throws IOException {
    try (InputStream in = Files.newInputStream(file)) {
      ByteBuffer header = ByteBuffer.wrap(in.readNBytes(DISK_SIZE_AT + Long.BYTES));
      if (header.remaining() < Integer.BYTES || header.getInt(0) != MAGIC) {
        return Optional.empty();
      }
      boolean whole = header.remaining() == DISK_SIZE_AT + Long.BYTES;
      return Optional.of(whole ? Math.max(0, header.getLong(DISK_SIZE_AT)) : 0);
    }
  }
}

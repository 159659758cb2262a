package graft.guests.payload;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The content of a file that goes into a guest. The bytes are read only when they are written,
 * because there may be many of them.
 */
public interface Content {
  /** The number of bytes. */
  long size() throws IOException;

  /** Writes exactly {@link #size} bytes. */
  void writeTo(OutputStream out) throws IOException;

  /** A content of bytes in memory. */
  static Content of(byte[] bytes) {
    return new Content() {
      @Override
      public long size() {
        return bytes.length;
      }

      @Override
      public void writeTo(OutputStream out) throws IOException {
        out.write(bytes);
      }
    };
  }

  /** A content of a text in UTF-8. */
  static Content of(String text) {
    return of(text.getBytes(StandardCharsets.UTF_8));
  }

  /** A content that is read from a file of the host. */
  static Content of(Path file) {
    return new Content() {
      @Override
      public long size() throws IOException {
        return Files.size(file);
      }

      @Override
      public void writeTo(OutputStream out) throws IOException {
        long left = size();
        byte[] piece = new byte[64 * 1024];
        try (InputStream in = Files.newInputStream(file)) {
          while (left > 0) {
            int count = in.read(piece, 0, (int) Math.min(piece.length, left));
            if (count < 0) {
              throw new IOException(file + " became shorter while it was read");
            }
            out.write(piece, 0, count);
            left -= count;
          }
        }
      }
    };
  }
}

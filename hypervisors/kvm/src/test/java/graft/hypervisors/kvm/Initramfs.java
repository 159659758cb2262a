package graft.hypervisors.kvm;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;

/**
 * Writes a cpio archive for the test guest, in the format that the kernel unpacks.
 *
 * @see <a href="https://docs.kernel.org/driver-api/early-userspace/buffer-format.html">kernel:
 *     initramfs buffer format</a>
 */
final class Initramfs {

  private static final int DIRECTORY = 0040755;
  private static final int EXECUTABLE = 0100755;
  private static final int LINK = 0120777;

  private final ByteArrayOutputStream out = new ByteArrayOutputStream();
  private final Set<String> folders = new TreeSet<>();
  private int inode;

  Initramfs folder(String name) {
    if (folders.add(name)) {
      int slash = name.lastIndexOf('/');
      if (slash > 0) {
        folder(name.substring(0, slash));
      }
      entry(name, DIRECTORY, new byte[0]);
    }
    return this;
  }

  Initramfs file(String name, byte[] content) {
    parent(name);
    entry(name, EXECUTABLE, content);
    return this;
  }

  Initramfs file(String name, Path from) throws IOException {
    return file(name, Files.readAllBytes(from));
  }

  Initramfs link(String name, String target) {
    parent(name);
    entry(name, LINK, target.getBytes(StandardCharsets.UTF_8));
    return this;
  }

  void writeTo(Path file) throws IOException {
    entry("TRAILER!!!", 0, new byte[0]);
    Files.write(file, out.toByteArray());
  }

  private void parent(String name) {
    int slash = name.lastIndexOf('/');
    if (slash > 0) {
      folder(name.substring(0, slash));
    }
  }

  private void entry(String name, int mode, byte[] content) {
    byte[] path = (name + "\0").getBytes(StandardCharsets.UTF_8);
    int[] fields = {++inode, mode, 0, 0, 1, 0, content.length, 0, 0, 0, 0, path.length, 0};
    StringBuilder header = new StringBuilder("070701");
    for (int field : fields) {
      header.append(String.format("%08x", field));
    }
    out.writeBytes(header.toString().getBytes(StandardCharsets.US_ASCII));
    out.writeBytes(path);
    pad();
    out.writeBytes(content);
    pad();
  }

  private void pad() {
    while (out.size() % 4 != 0) {
      out.write(0);
    }
  }
}

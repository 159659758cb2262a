package graft.remoting.server.jail;

import com.sun.jna.Native;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;

/**
 * Unpacks the native libraries of the jars once, in the server. JNA cannot unpack them in a worker,
 * because a worker's {@code /tmp} is mounted noexec.
 */
final class NativeParts {
  /** The paths of the libraries in the jars. */
  private static final List<String> RESOURCES =
      List.of("com/sun/jna/linux-x86-64/libjnidispatch.so", "linux-x86-64/libgraft-transport.so");

  private NativeParts() {}

  /** Unpacks them into a new folder, which every user can read. */
  static void unpack(Path folder) throws IOException {
    Files.createDirectory(folder);
    for (String resource : RESOURCES) {
      Path file = folder.resolve(resource.substring(resource.lastIndexOf('/') + 1));
      try (InputStream in = Native.class.getClassLoader().getResourceAsStream(resource)) {
        if (in == null) {
          throw new IOException("no " + resource + " on the class path");
        }
        Files.copy(in, file);
      }
      Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
    }
    Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxr-xr-x"));
  }
}

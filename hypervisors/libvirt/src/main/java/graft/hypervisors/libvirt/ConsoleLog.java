package graft.hypervisors.libvirt;

import graft.hypervisors.libvirt.domain.Xml;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.w3c.dom.Element;

/**
 * The file that a guest's serial port writes.
 *
 * @param path on the host that runs libvirt
 */
public record ConsoleLog(Path path, LibvirtUri uri) {

  private static final int TAIL_BYTES = 64 * 1024;

  static Optional<ConsoleLog> of(LibvirtUri uri, Element domain) {
    return Xml.find(domain, "devices").stream()
        .flatMap(devices -> Xml.children(devices, "serial").stream())
        .map(ConsoleLog::file)
        .flatMap(Optional::stream)
        .findFirst()
        .map(file -> new ConsoleLog(Path.of(file), uri));
  }

  /** A port of type file names it as its source; any other may have a log beside. */
  private static Optional<String> file(Element serial) {
    Optional<Element> element =
        serial.getAttribute("type").equals("file")
            ? Xml.find(serial, "source").map(e -> e)
            : Xml.find(serial, "log");
    return element.flatMap(e -> Xml.attribute(e, "path").or(() -> Xml.attribute(e, "file")));
  }

  /**
   * The last lines, without the control sequences of a terminal. Empty when the guest has written
   * nothing yet.
   *
   * @param lines at most; no more than fit into the last 64 KiB
   * @throws HypervisorException when the file is on another machine or cannot be read
   */
  public List<String> tail(int lines) {
    List<String> all = text().replaceAll("\u001b\\[[0-9;?]*[A-Za-z]|\r", "").lines().toList();
    return List.copyOf(all.subList(Math.max(0, all.size() - lines), all.size()));
  }

  private String text() {
    if (!uri.isLocal()) {
      throw failure("it is a file on another machine", "read it there", null);
    }
    if (!Files.exists(path)) {
      return "";
    }
    try (RandomAccessFile file = new RandomAccessFile(path.toFile(), "r")) {
      long start = Math.max(0, file.length() - TAIL_BYTES);
      byte[] end = new byte[(int) (file.length() - start)];
      file.seek(start);
      int count = Math.max(0, file.read(end));
      return new String(end, 0, count, StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw failure(
          String.valueOf(e.getMessage()), "libvirt writes it as root: run as root to read it", e);
    }
  }

  private HypervisorException failure(String reason, String advice, Throwable cause) {
    return new HypervisorException(
        "read", "the console log '" + path + "' at " + uri, reason, advice, cause);
  }
}

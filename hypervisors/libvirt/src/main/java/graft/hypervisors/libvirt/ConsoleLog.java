package graft.hypervisors.libvirt;

import graft.hypervisors.libvirt.calls.GuestText;
import graft.hypervisors.libvirt.calls.HypervisorException;
import graft.hypervisors.libvirt.calls.LibvirtUri;
import graft.hypervisors.libvirt.domain.Xml;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import org.w3c.dom.Element;

/**
 * The file to which a guest's serial port is written.
 *
 * @param path the file on the host that runs libvirt
 */
public record ConsoleLog(Path path, LibvirtUri uri) {

  private static final int TAIL_BYTES = 64 * 1024;

  /** A control sequence (ECMA-48), a control string such as xterm's title, or a carriage return. */
  private static final Pattern SEQUENCE =
      Pattern.compile(
          "\u001b\\[[0-?]*[ -/]*[@-~]"
              + "|\u001b[\\]PX^_][^\u0007\u001b\\n]*(\u0007|\u001b\\\\)"
              + "|\u001b[ -/]*[0-OQ-WYZ`-~]"
              + "|\r");

  static Optional<ConsoleLog> of(LibvirtUri uri, Element domain) {
    return Xml.find(domain, "devices").stream()
        .flatMap(devices -> Xml.children(devices, "serial").stream())
        .map(ConsoleLog::file)
        .flatMap(Optional::stream)
        .findFirst()
        .map(file -> new ConsoleLog(Path.of(file), uri));
  }

  /** A serial port of type file names the file as its source; other ports may have a log file. */
  private static Optional<String> file(Element serial) {
    Optional<Element> element =
        serial.getAttribute("type").equals("file")
            ? Xml.find(serial, "source").map(e -> e)
            : Xml.find(serial, "log");
    return element.flatMap(e -> Xml.attribute(e, "path").or(() -> Xml.attribute(e, "file")));
  }

  /**
   * The last lines, without terminal control sequences; empty if the guest has not written anything
   * yet.
   *
   * @param lines the maximum number of lines; the result never exceeds the last 64 KiB
   * @throws HypervisorException if the file is on another machine or cannot be read
   */
  public List<String> tail(int lines) {
    List<String> all = printable(text()).lines().toList();
    return List.copyOf(all.subList(Math.max(0, all.size() - lines), all.size()));
  }

  /**
   * The output of a guest without the common control sequences. All other control characters are
   * made visible, because a guest must not be able to send commands to the reader's terminal.
   */
  public static String printable(String text) {
    return GuestText.printable(SEQUENCE.matcher(text).replaceAll(""));
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

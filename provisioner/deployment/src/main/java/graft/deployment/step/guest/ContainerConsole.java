package graft.deployment.step.guest;

import graft.hypervisors.libvirt.Guest;
import graft.hypervisors.libvirt.domain.Xml;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.w3c.dom.Element;

/**
 * Keeps what a container prints on its console. libvirt's LXC driver writes consoles to no file, so
 * that a small program of its own reads the terminal until the container has ended.
 */
public final class ContainerConsole {
  /**
   * Keeps the first 16 MiB and drops the rest: a container that prints without end neither fills
   * the host's disk nor waits for a reader. The unit of the limit is 512 bytes.
   */
  static final String READER =
      "umask 077; trap '' XFSZ; ulimit -f 32768; exec <\"$1\"; cat >\"$2\" 2>/dev/null;"
          + " exec cat >/dev/null";

  private ContainerConsole() {}

  /** The console's terminal on the container's host; empty if the container has ended. */
  public static Optional<Path> terminal(Guest domain) {
    return Xml.find(domain.xml().getDocumentElement(), "devices").stream()
        .flatMap(devices -> Xml.children(devices, "console").stream())
        .flatMap(console -> Xml.find(console, "source").stream())
        .map((Element source) -> source.getAttribute("path"))
        .filter(path -> path.matches("/dev/pts/\\d+"))
        .map(Path::of)
        .findFirst();
  }

  /** Starts to keep the console of a container that has just been started. */
  static void keep(Guest domain, Path log) throws IOException {
    Optional<Path> terminal = terminal(domain);
    if (terminal.isEmpty()) {
      return; // the container has ended already
    }
    new ProcessBuilder(
            List.of(
                "setsid", "/bin/sh", "-c", READER, "sh", terminal.get().toString(), log.toString()))
        .redirectInput(ProcessBuilder.Redirect.from(Path.of("/dev/null").toFile()))
        .redirectOutput(ProcessBuilder.Redirect.DISCARD)
        .redirectError(ProcessBuilder.Redirect.DISCARD)
        .start();
  }
}

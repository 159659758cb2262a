package graft.deployment.step.guest;

import graft.common.disk.PrivateFiles;
import graft.deployment.step.StepFailure;
import graft.hypervisors.libvirt.domain.Xml;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.w3c.dom.Element;

/**
 * The mark of a guest whose disks are being restored from a snapshot: a file beside its disks with
 * the names of the snapshot and of the first disk's file, a line each. If the restore is
 * interrupted, some disks have the content of the snapshot and others a later one, and the guest
 * must not start with them.
 */
public final class UnfinishedRestore {
  private static final String FILE = "restoring";

  private UnfinishedRestore() {}

  /** Sets the mark beside the first disk. */
  public static void begin(Path disk, String snapshot) throws IOException {
    String lines = snapshot + "\n" + disk.getFileName() + "\n";
    PrivateFiles.write(disk.resolveSibling(FILE), lines.getBytes(StandardCharsets.UTF_8));
  }

  /** Removes the mark. */
  public static void end(Path disk) throws IOException {
    PrivateFiles.delete(disk.resolveSibling(FILE));
  }

  /** The snapshot from which the disks beside this one are being restored; empty if none is. */
  public static Optional<String> of(Path disk) throws IOException {
    return lines(disk).stream().findFirst();
  }

  private static List<String> lines(Path disk) throws IOException {
    Path mark = disk.resolveSibling(FILE);
    return Files.exists(mark) ? Files.readAllLines(mark) : List.of();
  }

  /** Removes the mark if the deleted disk was the first: no restore can end without it. */
  static void deleted(Path disk) throws IOException {
    if (lines(disk).stream().skip(1).anyMatch(disk.getFileName().toString()::equals)) {
      end(disk);
    }
  }

  /**
   * Refuses a guest with such disks.
   *
   * @param domain the definition with which the guest would start
   */
  static void refuse(String guest, Element domain) throws IOException {
    for (Element devices : Xml.children(domain, "devices")) {
      for (Element disk : Xml.children(devices, "disk")) {
        String file =
            Xml.find(disk, "source").map(source -> source.getAttribute("file")).orElse("");
        Optional<String> snapshot = file.isEmpty() ? Optional.empty() : of(Path.of(file));
        if (snapshot.isPresent()) {
          throw new StepFailure(
              "the disks of '"
                  + guest
                  + "' were restored in part, since the restore of its snapshot '"
                  + snapshot.get()
                  + "' was interrupted",
              "graft snapshot restore, of this snapshot or another one, finishes it");
        }
      }
    }
  }
}

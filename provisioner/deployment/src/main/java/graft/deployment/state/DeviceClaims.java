package graft.deployment.state;

import graft.common.GraftException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * Which devices of the host belong to which guest, for all set-ups: a folder with a file for each
 * device, named by its PCI address or UUID. A device that no driver has is not a free one: its
 * guest may be off.
 */
public final class DeviceClaims {
  private static final String FOLDER = ".devices";

  private final Path folder;

  public DeviceClaims(Path folder) {
    this.folder = folder;
  }

  /** The folder beside those of the set-ups. */
  public static Path folder(Path root) {
    return root.resolve(FOLDER);
  }

  /** All claims, by device. */
  public Map<String, Holder> all() {
    if (!Files.isDirectory(folder)) {
      return Map.of();
    }
    Map<String, Holder> all = new LinkedHashMap<>();
    try (Stream<Path> files = Files.list(folder)) {
      for (Path file : files.sorted().toList()) {
        String device = file.getFileName().toString();
        if (!device.startsWith(".")) {
          all.put(device, Holder.parse(Files.readString(file)));
        }
      }
      return all;
    } catch (NoSuchFileException e) {
      return all(); // one was given back meanwhile
    } catch (IOException e) {
      throw new GraftException("cannot read the claims in " + folder + ": " + e, "", e);
    }
  }

  /**
   * Claims a device; nothing if it is that guest's already.
   *
   * @throws GraftException if somebody else has it
   */
  public void claim(String device, Holder holder) throws IOException {
    Files.createDirectories(folder);
    Path whole = draft(device, holder);
    Files.deleteIfExists(
        whole); // of a process that was killed; it may be the claim itself by another name
    try {
      Files.writeString(whole, holder.text() + "\n", StandardCharsets.UTF_8);
      // A link is there with its content or not at all, and never in place of another one.
      Files.createLink(folder.resolve(device), whole);
    } catch (FileAlreadyExistsException e) {
      Holder other = Holder.parse(Files.readString(folder.resolve(device)));
      if (!other.equals(holder)) {
        throw new GraftException(device + " was given to " + other + " meanwhile", "plan again", e);
      }
    } finally {
      Files.deleteIfExists(whole);
    }
  }

  /** Gives a device back; nothing if it is not that guest's. */
  public void release(String device, Holder holder) throws IOException {
    Files.deleteIfExists(draft(device, holder));
    Path file = folder.resolve(device);
    if (Files.exists(file) && Holder.parse(Files.readString(file)).equals(holder)) {
      Files.deleteIfExists(file);
    }
  }

  /** What becomes a claim. Its name is its own: one process at a time works on a set-up. */
  private Path draft(String device, Holder holder) {
    return folder.resolve("." + device + "." + holder.setup());
  }

  /**
   * Who has a device.
   *
   * @param setup the set-up that made the guest; empty for a guest that Graft did not make
   */
  public record Holder(String setup, String guest) {
    static Holder parse(String text) {
      List<String> parts = List.of(text.strip().split("/", 2));
      return new Holder(parts.get(0), parts.size() > 1 ? parts.get(1) : "");
    }

    String text() {
      return setup + "/" + guest;
    }

    @Override
    public String toString() {
      return "the guest '"
          + guest
          + "'"
          + (setup.isEmpty() ? "" : " of the set-up '" + setup + "'");
    }
  }
}

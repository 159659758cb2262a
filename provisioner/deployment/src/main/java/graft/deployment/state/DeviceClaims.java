package graft.deployment.state;

import graft.common.GraftException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Which devices of the host belong to which guest, for all deployments: a folder with a file for
 * each device, named by its PCI address or UUID. A device without a driver is not necessarily free:
 * its guest may be off.
 */
public final class DeviceClaims {
  private static final String FOLDER = ".devices";

  private final Path folder;

  public DeviceClaims(Path folder) {
    this.folder = folder;
  }

  /** The folder beside those of the deployments. */
  public static Path folder(Path root) {
    return root.resolve(FOLDER);
  }

  /** All claims, by device, without empty ones: see {@link #claim}. */
  public Map<String, Holder> all() {
    if (!Files.isDirectory(folder)) {
      return Map.of();
    }
    Map<String, Holder> all = new LinkedHashMap<>();
    try (Stream<Path> files = Files.list(folder)) {
      for (Path file : files.sorted().toList()) {
        String device = file.getFileName().toString();
        if (!device.startsWith(".")) {
          read(device).ifPresent(holder -> all.put(device, holder));
        }
      }
      return all;
    } catch (IOException e) {
      throw new GraftException("cannot read the claims in " + folder + ": " + e, "", e);
    }
  }

  /**
   * Claims a device, if the guest has not claimed it already. The claim is on disk when this
   * returns.
   *
   * <p>An empty claim is what a power cut left of a claim that was not synced. Its owner is
   * unknown, and no guest has run since then, so that the device can be claimed.
   *
   * @throws GraftException if another guest has it
   */
  public void claim(String device, Holder holder) throws IOException {
    StateDisk disk = StateDisk.get();
    disk.makeFolders(folder);
    Path whole = draft(device, holder);
    Path claim = folder.resolve(device);
    // A killed process can leave its draft, which may be another link to the claim itself.
    disk.delete(whole);
    try {
      try (StateDisk.Output out = disk.create(whole)) {
        out.write(ByteBuffer.wrap((holder.text() + "\n").getBytes(StandardCharsets.UTF_8)));
        out.sync();
      }
      // A hard link appears with its content, and never replaces an existing claim.
      disk.link(claim, whole);
    } catch (FileAlreadyExistsException e) {
      Optional<Holder> other = read(device);
      if (other.isEmpty()) {
        disk.move(whole, claim);
      } else if (!other.get().equals(holder)) {
        throw new GraftException(
            device + " was given to " + other.get() + " meanwhile", "plan again", e);
      }
    } finally {
      disk.delete(whole);
    }
    disk.syncFolder(folder);
  }

  /**
   * Releases a device, if the guest has it. An empty claim is removed too, because only a guest
   * that began to claim a device releases it.
   */
  public void release(String device, Holder holder) throws IOException {
    StateDisk disk = StateDisk.get();
    boolean gone = disk.delete(draft(device, holder));
    Path claim = folder.resolve(device);
    if (Files.exists(claim) && read(device).map(holder::equals).orElse(true)) {
      gone |= disk.delete(claim);
    }
    if (gone) {
      disk.syncFolder(folder);
    }
  }

  /** The holder of a device; empty if it has none, or if its claim is empty. */
  private Optional<Holder> read(String device) throws IOException {
    try {
      return Optional.of(Files.readString(folder.resolve(device)))
          .filter(text -> !text.isBlank())
          .map(Holder::parse);
    } catch (NoSuchFileException e) {
      return Optional.empty(); // it was released meanwhile
    }
  }

  /**
   * The draft of a claim. Its name is unique, because one process at a time works on a deployment.
   */
  private Path draft(String device, Holder holder) {
    return folder.resolve("." + device + "." + holder.deployment());
  }

  /**
   * The holder of a device.
   *
   * @param deployment the deployment that made the guest; empty for a guest that Graft did not make
   */
  public record Holder(String deployment, String guest) {
    static Holder parse(String text) {
      List<String> parts = List.of(text.strip().split("/", 2));
      return new Holder(parts.get(0), parts.size() > 1 ? parts.get(1) : "");
    }

    String text() {
      return deployment + "/" + guest;
    }

    @Override
    public String toString() {
      return "the guest '"
          + guest
          + "'"
          + (deployment.isEmpty() ? "" : " of the deployment '" + deployment + "'");
    }
  }
}

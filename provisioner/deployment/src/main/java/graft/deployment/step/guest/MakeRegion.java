package graft.deployment.step.guest;

import graft.common.program.CurrentUser;
import graft.common.values.MemorySize;
import graft.deployment.observe.Snapshot;
import graft.deployment.state.ServerUser;
import graft.deployment.step.GuestStep;
import graft.deployment.step.StepContext;
import graft.deployment.step.StepFailure;
import graft.hypervisors.libvirt.capabilities.FileOwner;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Makes the memory that a guest shares with the server: a file in {@code /dev/shm} that only the
 * hypervisor's user and root may open. The whole file is written once: missing memory becomes an
 * error now, instead of killing the guest at its first access.
 *
 * @param gpu the GPU of the server, if it is that of a further vGPU
 */
public record MakeRegion(String uri, String guest, Path file, MemorySize size, Optional<String> gpu)
    implements GuestStep {
  private static final String NAME = "region";
  private static final int PIECE = 1 << 20;

  /** The step's identity for a guest. */
  public static String id(String guest, Optional<String> gpu) {
    return "guest/" + guest + "/" + name(gpu);
  }

  @Override
  public String name() {
    return name(gpu);
  }

  private static String name(Optional<String> gpu) {
    return NAME + gpu.map(name -> "-" + name).orElse("");
  }

  @Override
  public String describe() {
    return "make " + size + " of memory that it shares with the server, " + file;
  }

  @Override
  public boolean isDone(Snapshot snapshot) {
    return snapshot.file(file).map(f -> f.size() == size.bytes()).orElse(false);
  }

  @Override
  public Map<String, Object> apply(StepContext context) throws IOException {
    undo(context, Map.of());
    try (FileChannel out =
        FileChannel.open(
            file,
            Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE),
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")))) {
      ByteBuffer zeros = ByteBuffer.allocate(PIECE);
      for (long left = size.bytes(); left > 0; left -= zeros.limit()) {
        zeros.rewind().limit((int) Math.min(PIECE, left));
        while (zeros.hasRemaining()) {
          out.write(zeros);
        }
      }
      own(context.libvirt(uri).guestOwner());
    } catch (FileAlreadyExistsException e) {
      throw new StepFailure(
          "another user has made " + file + " just now", "find out who, then apply again", e);
    } catch (IOException e) {
      undo(context, Map.of());
      throw new StepFailure(
          "cannot make " + size + " of shared memory, " + file + ": " + e.getMessage(),
          "make room in /dev/shm, write a smaller region, or channel: tcp",
          e);
    }
    return Map.of();
  }

  /**
   * Makes the user that runs guests its owner, where that is another user, and lets the server's
   * user open it.
   */
  private void own(Optional<FileOwner> owner) throws IOException {
    if (owner.isPresent()
        && !owner
            .get()
            .uid()
            .equals(Files.getAttribute(file, "unix:uid", LinkOption.NOFOLLOW_LINKS))) {
      Files.setAttribute(file, "unix:gid", owner.get().gid(), LinkOption.NOFOLLOW_LINKS);
      Files.setAttribute(file, "unix:uid", owner.get().uid(), LinkOption.NOFOLLOW_LINKS);
    }
    if (CurrentUser.isRoot()) {
      Optional<ServerUser> server = ServerUser.find();
      if (server.isPresent()) {
        server.get().share(file);
      }
    }
  }

  @Override
  public void undo(StepContext context, Map<String, Object> before) throws IOException {
    Files.deleteIfExists(file);
  }
}

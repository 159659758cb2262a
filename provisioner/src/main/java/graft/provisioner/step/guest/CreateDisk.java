package graft.provisioner.step.guest;

import graft.provisioner.observe.FileStamp;
import graft.provisioner.observe.Snapshot;
import graft.provisioner.reach.SshLogin;
import graft.provisioner.state.PrivateFiles;
import graft.provisioner.step.Lane;
import graft.provisioner.step.Step;
import graft.provisioner.step.StepContext;
import graft.provisioner.step.StepFailure;
import graft.provisioner.values.MemorySize;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import org.apache.commons.exec.CommandLine;
import org.apache.commons.exec.DefaultExecutor;
import org.apache.commons.exec.ExecuteWatchdog;
import org.apache.commons.exec.PumpStreamHandler;

/**
 * Makes a disk of a guest as a qcow2 file: empty, or a copy of an image that shares what is not
 * written.
 *
 * @param backing the image; absent for an empty disk
 * @param backingFormat {@code qcow2} or {@code raw}; empty for an empty disk
 * @param size of an empty disk, or of one larger than its image
 */
public record CreateDisk(
    String guest,
    String disk,
    Optional<FileStamp> backing,
    String backingFormat,
    Optional<MemorySize> size,
    Path target)
    implements Step {
  @Override
  public Lane lane() {
    return Lane.guest(guest);
  }

  @Override
  public String name() {
    return "disk-" + disk;
  }

  @Override
  public String describe() {
    String from = backing.map(image -> " over " + image.path()).orElse("");
    return "make its disk '" + disk + "'" + size.map(s -> " of " + s).orElse("") + from;
  }

  @Override
  public boolean isDone(Snapshot snapshot) {
    return snapshot.exists(target);
  }

  @Override
  public boolean isIndependent() {
    return true;
  }

  @Override
  public Map<String, Object> apply(StepContext context) throws IOException {
    undo(context);
    CommandLine command = new CommandLine("qemu-img");
    command.addArguments(new String[] {"create", "-q", "-f", "qcow2"}, false);
    if (backing.isPresent()) {
      String image = backing.get().path().toString();
      command.addArguments(new String[] {"-F", backingFormat, "-b", image}, false);
    }
    command.addArgument(target.toString(), false);
    size.ifPresent(s -> command.addArgument(String.valueOf(s.bytes())));
    ByteArrayOutputStream output = new ByteArrayOutputStream();
    DefaultExecutor executor = DefaultExecutor.builder().get();
    executor.setStreamHandler(new PumpStreamHandler(output));
    executor.setWatchdog(ExecuteWatchdog.builder().setTimeout(Duration.ofSeconds(60)).get());
    try {
      executor.execute(command);
    } catch (IOException e) {
      throw new StepFailure(
          "qemu-img could not make "
              + target
              + ": "
              + (output.toString(StandardCharsets.UTF_8) + " " + e.getMessage()).strip(),
          "is qemu-utils installed, and is there room? graft doctor says",
          e);
    }
    return Map.of();
  }

  @Override
  public void undo(StepContext context) throws IOException {
    PrivateFiles.delete(target);
    Files.deleteIfExists(SshLogin.knownHostsBeside(target));
  }
}

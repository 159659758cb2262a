package graft.deployment.step.guest;

import graft.common.disk.PrivateFiles;
import graft.common.program.HostProgram;
import graft.deployment.observe.Snapshot;
import graft.deployment.state.SshKeys;
import graft.deployment.step.GuestStep;
import graft.deployment.step.StepContext;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/**
 * Makes the keys by which Graft and a guest without an agent authenticate each other.
 *
 * @param folder where they are kept
 */
public record MakeSshKeys(String guest, Path folder) implements GuestStep {
  private static final Duration LIMIT = Duration.ofSeconds(60);

  @Override
  public String name() {
    return "ssh-keys";
  }

  @Override
  public String describe() {
    return "make SSH keys for it";
  }

  @Override
  public boolean isDone(Snapshot snapshot) {
    return snapshot.exists(new SshKeys(folder).knownHosts());
  }

  @Override
  public Map<String, Object> apply(StepContext context) throws IOException {
    SshKeys keys = new SshKeys(folder);
    if (!Files.exists(keys.knownHosts())) {
      PrivateFiles.deleteFolder(folder); // left by an interrupted apply
      PrivateFiles.makeFolder(folder);
      generate(keys.key(), "graft");
      generate(keys.hostKey(), guest);
      // Its address is not known yet, and no other guest's key is in this file.
      String host = "* " + Files.readString(keys.publicHalf(keys.hostKey()));
      PrivateFiles.write(keys.knownHosts(), host.getBytes(StandardCharsets.UTF_8));
    }
    return Map.of();
  }

  private static void generate(Path key, String comment) throws IOException {
    HostProgram.of(
            "ssh-keygen",
            List.of("-q", "-t", "ed25519", "-N", "", "-C", comment, "-f", key.toString()))
        .output(LIMIT);
  }

  @Override
  public void undo(StepContext context, Map<String, Object> before) throws IOException {
    PrivateFiles.deleteFolder(folder);
  }
}

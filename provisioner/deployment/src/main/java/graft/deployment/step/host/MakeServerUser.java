package graft.deployment.step.host;

import graft.common.disk.PrivateFiles;
import graft.common.disk.StateDisk;
import graft.deployment.observe.Snapshot;
import graft.deployment.state.ServerUser;
import graft.deployment.step.Chain;
import graft.deployment.step.Step;
import graft.deployment.step.StepContext;
import graft.deployment.step.StepFailure;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * Creates the system user that servers run as, if it does not exist.
 *
 * <p>All deployments of the host have the same user, so each notes whether Graft created it;
 * undoing the last of them removes a user that Graft created.
 *
 * @param setup the name of the deployment that needs the user
 * @param folder where the deployments note it, a file for each
 */
public record MakeServerUser(String setup, Path folder) implements Step {
  private static final String FOLDER = ".server-user";
  private static final String MADE = "made";
  private static final String FOUND = "found";

  /** What userdel(8) answers when processes of the user run. */
  private static final int IN_USE = 8;

  /** The folder of the notes, beside the state folders. */
  public static Path folder(Path root) {
    return root.resolve(FOLDER);
  }

  @Override
  public Chain chain() {
    return Chain.user(ServerUser.NAME);
  }

  @Override
  public String name() {
    return "create";
  }

  @Override
  public String describe() {
    return "ensure the system user '" + ServerUser.NAME + "', which servers run as";
  }

  @Override
  public boolean isDone(Snapshot snapshot) {
    return snapshot.services().serverUser();
  }

  @Override
  public Map<String, Object> apply(StepContext context) throws Exception {
    StateDisk.get().makeFolders(folder);
    boolean isThere = ServerUser.find().isPresent();
    boolean made = !isThere || notes().anyMatch(MADE::equals);
    // The note comes first: a user that a killed apply created is then removed by undo.
    PrivateFiles.write(note(), (made ? MADE : FOUND).getBytes(StandardCharsets.UTF_8));
    if (!isThere) {
      Commands.run(
          "useradd",
          List.of(
              "--system",
              "--user-group",
              "--no-create-home",
              "--home-dir",
              "/nonexistent",
              "--shell",
              "/usr/sbin/nologin",
              "--comment",
              "Graft's servers",
              ServerUser.NAME),
          "create the user yourself, then apply again");
    }
    return Map.of();
  }

  @Override
  public void undo(StepContext context, Map<String, Object> before) throws Exception {
    boolean removes =
        Files.exists(note())
            && Files.readString(note()).equals(MADE)
            && notes().count() == 1
            && ServerUser.find().isPresent();
    if (removes) {
      int status = Commands.status("userdel", List.of(ServerUser.NAME));
      if (status != 0 && status != IN_USE) {
        throw new StepFailure(
            "userdel " + ServerUser.NAME + " ended with status " + status,
            "remove the user yourself, then try again");
      }
    }
    PrivateFiles.delete(note());
  }

  private Path note() {
    return folder.resolve(setup);
  }

  private Stream<String> notes() throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      Stream.Builder<String> all = Stream.builder();
      // Names of deployments have no dot; names of incomplete files have one.
      for (Path file : files.filter(f -> f.getFileName().toString().indexOf('.') < 0).toList()) {
        all.add(Files.readString(file));
      }
      return all.build();
    }
  }
}

package graft.deployment.step.guest;

import graft.common.grants.TokensFile;
import graft.common.values.TimeSpan;
import graft.deployment.observe.Snapshot;
import graft.deployment.step.Await;
import graft.deployment.step.GuestStep;
import graft.deployment.step.StepContext;
import graft.deployment.step.StepFailure;
import graft.guests.connection.Ended;
import graft.guests.connection.GuestConnection;
import graft.guests.connection.GuestConnections;
import graft.guests.connection.SshLogin;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Copies the tokens file, which the host keeps, to the server in a guest that owns a GPU.
 *
 * @param tokens the list on the host
 * @param users the guests that must be in it, with their settings; their own steps add them
 */
public record ShareTokens(
    String uri,
    String guest,
    String uuid,
    Optional<SshLogin> ssh,
    String gpu,
    Path tokens,
    List<String> users,
    TimeSpan timeout)
    implements GuestStep {
  /** The list in the guest. */
  private static final String LIST = "/etc/graft/server.tokens";

  /**
   * Puts the new list in place of the old one, with the old one's owner: the server's user, or root
   * where an earlier Graft set up the server.
   */
  private static final String REPLACE =
      "[ ! -e \"$2\" ] || chown --reference=\"$2\" \"$1\" || exit; mv -f \"$1\" \"$2\"";

  private static final Duration PAUSE = Duration.ofMillis(100);
  private static final Duration SHORT = Duration.ofSeconds(60);

  @Override
  public String name() {
    return "tokens-" + gpu;
  }

  @Override
  public String describe() {
    return "tell its server of '" + gpu + "' who may use it: " + String.join(", ", users);
  }

  @Override
  public boolean isDone(Snapshot snapshot) {
    // The list is on the guest's own disk; one that the host's lacks was taken off both.
    return snapshot.grants().getOrDefault(tokens, Map.of()).keySet().containsAll(names());
  }

  private List<String> names() {
    return users.stream().map(user -> user.replaceFirst(" .*", "")).toList();
  }

  @Override
  public boolean isInPlace() {
    return true;
  }

  @Override
  public boolean leavesSomething() {
    return false;
  }

  @Override
  public Map<String, Object> apply(StepContext context) throws IOException, InterruptedException {
    Await.Outcome outcome =
        new Await(timeout.toDuration(), PAUSE)
            .until(
                () -> allThere() ? Await.Answer.YES : Await.Answer.NOT_YET,
                seconds -> context.progress(this, "waiting for the other guests' tokens"),
                context::isStopping);
    if (outcome != Await.Outcome.READY) {
      throw new StepFailure(
          "not all of " + users + " are in " + tokens + " within " + timeout, "apply again");
    }
    bring(GuestConnections.of(Domains.get(context.libvirt(uri), guest, uuid), ssh));
    return Map.of();
  }

  /** Replaces the list in the guest atomically. */
  public void bring(GuestConnection connection) throws IOException {
    byte[] list = Files.exists(tokens) ? Files.readAllBytes(tokens) : new byte[0];
    String beside = LIST + ".graft-new";
    connection.run(List.of("mkdir", "-p", "/etc/graft"), new byte[0], SHORT);
    connection.put(new ByteArrayInputStream(list), beside, 0600);
    List<String> replace = List.of("/bin/sh", "-c", REPLACE, "sh", beside, LIST);
    Ended ended = connection.run(replace, new byte[0], SHORT);
    if (!ended.succeeded()) {
      throw new StepFailure(
          "cannot replace " + LIST + " in the guest '" + guest + "': " + ended.said(),
          "examine it with graft exec, then apply again");
    }
  }

  private boolean allThere() {
    try {
      return new TokensFile(tokens).readIfThere().keySet().containsAll(names());
    } catch (IOException e) {
      throw new UncheckedIOException("reading " + tokens, e);
    }
  }

  @Override
  public void undo(StepContext context, Map<String, Object> before) {}
}

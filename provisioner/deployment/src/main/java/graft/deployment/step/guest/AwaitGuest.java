package graft.deployment.step.guest;

import graft.common.values.TimeSpan;
import graft.deployment.observe.Snapshot;
import graft.deployment.step.Await;
import graft.deployment.step.GuestStep;
import graft.deployment.step.StepContext;
import graft.deployment.step.StepFailure;
import graft.guests.connection.Ended;
import graft.guests.connection.GuestConnection;
import graft.guests.connection.GuestConnectionException;
import graft.guests.connection.GuestConnections;
import graft.guests.connection.SshLogin;
import graft.guests.payload.CloudInitSeed;
import graft.hypervisors.libvirt.ConsoleLog;
import graft.hypervisors.libvirt.Guest;
import graft.hypervisors.libvirt.calls.LibvirtUri;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/**
 * Waits until a guest is ready: its agent answers, or its console shows a text.
 *
 * @param text the text; empty to wait for the agent
 * @param marker a file in the guest that exists once it is set up; empty to wait for the agent only
 * @param orAgent whether a guest without cloud-init is ready as well, because its agent installs
 *     the content of the seed
 * @param ssh the login, to wait for SSH instead of the agent
 */
public record AwaitGuest(
    String uri,
    String guest,
    String uuid,
    String text,
    String marker,
    boolean orAgent,
    Optional<SshLogin> ssh,
    TimeSpan timeout,
    Path console)
    implements GuestStep {
  /** The key of the result that holds the seconds from the start to readiness. */
  public static final String BOOT_SECONDS = "bootSeconds";

  /** The message of a kernel panic of Linux (kernel/panic.c). */
  private static final String PANIC = "Kernel panic - not syncing";

  private static final Duration PAUSE = Duration.ofMillis(250);
  private static final Duration PING = Duration.ofSeconds(2);
  private static final Duration SSH = Duration.ofSeconds(30);
  private static final Duration LAST = Duration.ofSeconds(10);
  private static final String NO_CLOUD_INIT = "the image has no cloud-init";
  private static final int CONSOLE_LINES = 25;

  @Override
  public String name() {
    return "ready";
  }

  @Override
  public String describe() {
    String done = marker.isEmpty() ? "" : " and cloud-init" + (orAgent ? ", if there is one," : "");
    done += marker.isEmpty() ? "" : " has set it up";
    String who = ssh.isPresent() ? "SSH answers" : "its agent answers";
    who = ssh.isEmpty() && isContainer() ? "its init has started it" : who;
    return text.isEmpty()
        ? "wait until " + who + done + ", at most " + timeout
        : "wait until its console shows '" + text + "', at most " + timeout;
  }

  private boolean isContainer() {
    return uri.startsWith("lxc:");
  }

  @Override
  public boolean isDone(Snapshot snapshot) {
    return true; // a guest that was ready once counts as ready as long as it runs
  }

  @Override
  public boolean leavesSomething() {
    return false;
  }

  @Override
  public Map<String, Object> apply(StepContext context) throws InterruptedException {
    Guest domain = Domains.get(context.libvirt(uri), guest, uuid);
    Await.Outcome outcome =
        new Await(timeout.toDuration(), marker.isEmpty() ? PAUSE : PAUSE.multipliedBy(2))
            .until(
                () -> ask(domain),
                seconds -> context.progress(this, "booting, " + seconds + " s"),
                context::isStopping);
    if (outcome != Await.Outcome.READY) {
      throw failure(domain, outcome);
    }
    Object started = context.resultOf("guest/" + guest + "/start").get(StartGuest.STARTED);
    long since = started instanceof Long at ? at : System.currentTimeMillis();
    return Map.of(BOOT_SECONDS, (System.currentTimeMillis() - since) / 1000.0);
  }

  private Await.Answer ask(Guest domain) {
    if (!domain.state().isActive()) {
      return Await.Answer.NEVER;
    }
    String printed = printed();
    if (!text.isEmpty() && printed.contains(text)) {
      return Await.Answer.YES;
    }
    if (printed.contains(PANIC)) {
      return Await.Answer.NEVER;
    }
    if (!text.isEmpty()) {
      return Await.Answer.NOT_YET;
    }
    return patiently(
        () -> {
          GuestConnection connection = GuestConnections.of(domain, ssh);
          return connection.answers(ssh.isPresent() ? SSH : PING)
              ? setUp(connection)
              : Await.Answer.NOT_YET;
        });
  }

  /** A guest that reboots, or is too busy to answer in time, is not ready yet. */
  static Await.Answer patiently(Supplier<Await.Answer> question) {
    try {
      return question.get();
    } catch (GuestConnectionException e) {
      if (e.unresponsive() || e.late()) {
        return Await.Answer.NOT_YET;
      }
      throw e;
    }
  }

  /** Asks whether cloud-init has processed the seed. Its error becomes part of the message. */
  private Await.Answer setUp(GuestConnection connection) {
    if (marker.isEmpty()) {
      return Await.Answer.YES;
    }
    String script =
        "if [ -e \"$1\" ]; then echo done; elif [ -e \"$2\" ]; then cat \"$2\" >&2; exit 1;"
            + " elif [ ! -e /usr/bin/cloud-init ]; then echo \"$3\" >&2; exit 1; fi";
    Ended ended =
        connection.run(
            List.of(
                "/bin/sh", "-c", script, "sh", marker, CloudInitSeed.failed(marker), NO_CLOUD_INIT),
            new byte[0],
            Duration.ofSeconds(30));
    boolean lacksCloudInit = ended.said().equals(NO_CLOUD_INIT);
    if (lacksCloudInit && orAgent) {
      return Await.Answer.YES;
    } else if (!ended.succeeded()) {
      throw new StepFailure(
          "the guest '" + guest + "' runs, but its seed was not carried out: " + ended.said(),
          lacksCloudInit
              ? "write setup: {way: agent}, or take an image with cloud-init"
              : "fix what the message names, then apply again");
    }
    return ended.outputText().isBlank() ? Await.Answer.NOT_YET : Await.Answer.YES;
  }

  /** The text on the console; empty where this user may not read it. */
  private String printed() {
    try {
      return Files.isReadable(console)
          ? new String(Files.readAllBytes(console), StandardCharsets.UTF_8)
          : "";
    } catch (IOException e) {
      throw new UncheckedIOException("reading the console of '" + guest + "'", e);
    }
  }

  private StepFailure failure(Guest domain, Await.Outcome outcome) {
    String what =
        outcome == Await.Outcome.TIMED_OUT
            ? "the guest '" + guest + "' was not ready within " + timeout
            : "the guest '" + guest + "' stopped or crashed before it was ready";
    List<String> lines = new ConsoleLog(console, LibvirtUri.parse(uri)).tail(CONSOLE_LINES);
    String end =
        lines.isEmpty()
            ? "; it printed nothing on its console"
            : "; the end of its console:\n"
                + lines.stream().map(line -> "    " + line).collect(Collectors.joining("\n"));
    String said = outcome == Await.Outcome.TIMED_OUT && text.isEmpty() ? lastWord(domain) : "";
    return new StepFailure(
        what + said + end, "if it only needs longer, raise ready: {timeout: ...}" + hint());
  }

  /** Why the guest was not ready at the end. */
  private String lastWord(Guest domain) {
    String status = "cloud-init status --long 2>&1 | head -n 6";
    try {
      GuestConnection connection = GuestConnections.of(domain, ssh);
      if (marker.isEmpty()) {
        connection.run(List.of("true"), new byte[0], LAST);
        return "";
      }
      return "; it answers, and cloud-init has not carried out its seed: "
          + connection.run(List.of("/bin/sh", "-c", status), new byte[0], LAST).said();
    } catch (GuestConnectionException e) {
      return "; " + e.getMessage();
    }
  }

  /**
   * A hint for a guest that boots and does not answer: its agent or its SSH server may be missing.
   */
  private String hint() {
    if (!text.isEmpty() || (ssh.isEmpty() && isContainer())) {
      return "";
    }
    return ssh.isPresent()
        ? "; if it is at its login: does it run an SSH server that knows the key?"
        : "; if it is at its login: is qemu-guest-agent installed in it? setup: {way: ssh} needs none";
  }

  @Override
  public void undo(StepContext context, Map<String, Object> before) {}
}

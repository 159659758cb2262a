package graft.provisioner.step.guest;

import graft.hypervisors.libvirt.AgentCommand;
import graft.hypervisors.libvirt.Guest;
import graft.provisioner.observe.Snapshot;
import graft.provisioner.step.Await;
import graft.provisioner.step.Lane;
import graft.provisioner.step.Step;
import graft.provisioner.step.StepContext;
import graft.provisioner.step.StepFailure;
import graft.provisioner.values.TimeSpan;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * Waits until a guest is ready: its agent answers, or its console shows a text.
 *
 * @param text the text; empty to wait for the agent
 * @param marker a file in the guest that is there once it is set up; empty if nothing is to be
 *     waited for beside the agent
 */
public record AwaitGuest(
    String uri,
    String guest,
    String uuid,
    String text,
    String marker,
    TimeSpan timeout,
    Path console)
    implements Step {
  /** The key of the result that holds the seconds from the start to readiness. */
  public static final String BOOT_SECONDS = "bootSeconds";

  /** What Linux prints when it gives up (kernel/panic.c). */
  private static final String PANIC = "Kernel panic - not syncing";

  private static final Duration PAUSE = Duration.ofMillis(250);
  private static final Duration PING = Duration.ofSeconds(2);
  private static final int CONSOLE_LINES = 25;

  @Override
  public Lane lane() {
    return Lane.guest(guest);
  }

  @Override
  public String name() {
    return "ready";
  }

  @Override
  public String describe() {
    String done = marker.isEmpty() ? "" : " and cloud-init has ended";
    return text.isEmpty()
        ? "wait until its agent answers" + done + ", at most " + timeout
        : "wait until its console shows '" + text + "', at most " + timeout;
  }

  @Override
  public boolean isDone(Snapshot snapshot) {
    return true; // once it was ready it is, as long as it runs
  }

  @Override
  public boolean leavesSomething() {
    return false;
  }

  @Override
  public Map<String, Object> apply(StepContext context) throws InterruptedException {
    Guest domain = Domains.get(context.libvirt(uri), guest, uuid);
    Await.Outcome outcome =
        new Await(timeout.toDuration(), PAUSE)
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
    boolean ready = text.isEmpty() && domain.agent().ping(PING) && isSetUp(domain);
    return ready ? Await.Answer.YES : Await.Answer.NOT_YET;
  }

  private boolean isSetUp(Guest domain) {
    return marker.isEmpty()
        || domain.agent().exec(AgentCommand.of("test", "-e", marker)).succeeded();
  }

  /** What stands on the console; nothing where this user may not read it. */
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
    List<String> lines = domain.consoleLog().map(log -> log.tail(CONSOLE_LINES)).orElse(List.of());
    String end =
        lines.isEmpty()
            ? "; it printed nothing on its console"
            : "; the end of its console:\n"
                + lines.stream().map(line -> "    " + line).collect(Collectors.joining("\n"));
    return new StepFailure(
        what + end, "if it only needs longer, raise the guest's ready: {timeout: ...}");
  }

  @Override
  public void undo(StepContext context) {}
}

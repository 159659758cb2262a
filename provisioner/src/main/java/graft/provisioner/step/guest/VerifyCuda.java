package graft.provisioner.step.guest;

import graft.hypervisors.libvirt.AgentCommand;
import graft.hypervisors.libvirt.AgentResult;
import graft.hypervisors.libvirt.Guest;
import graft.provisioner.observe.Snapshot;
import graft.provisioner.setup.Payload;
import graft.provisioner.step.Lane;
import graft.provisioner.step.Step;
import graft.provisioner.step.StepContext;
import graft.provisioner.step.StepFailure;
import graft.provisioner.values.TimeSpan;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;

/** Runs a small CUDA program in a guest and remembers what it says about its device. */
public record VerifyCuda(String uri, String guest, String uuid, TimeSpan timeout) implements Step {
  /** The program, among the client's files. */
  public static final String PROGRAM = "graft-verify";

  @Override
  public Lane lane() {
    return Lane.guest(guest);
  }

  @Override
  public String name() {
    return "verify";
  }

  @Override
  public String describe() {
    return "run a CUDA program in it";
  }

  @Override
  public boolean isDone(Snapshot snapshot) {
    return true;
  }

  @Override
  public boolean leavesSomething() {
    return false;
  }

  @Override
  public Map<String, Object> apply(StepContext context) {
    Guest domain = Domains.get(context.libvirt(uri), guest, uuid);
    String program = Payload.CLIENT_FOLDER + "/" + PROGRAM;
    long start = System.nanoTime();
    AgentResult ended =
        domain
            .agent()
            .exec(AgentCommand.of(program, "--no-measure").withTimeout(timeout.toDuration()));
    Map<String, Object> result = new LinkedHashMap<>();
    ended
        .outputText()
        .lines()
        .filter(line -> line.indexOf('=') > 0)
        .forEach(
            line ->
                result.put(
                    line.substring(0, line.indexOf('=')), line.substring(line.indexOf('=') + 1)));
    if (!ended.succeeded() || !"ok".equals(result.get("result"))) {
      String said = (ended.outputText() + ended.errorText()).strip();
      throw new StepFailure(
          "the CUDA program in the guest '" + guest + "' failed: " + said.replace("\n", "\n    "),
          "is the server there? graft status says");
    }
    result.put("seconds", Duration.ofNanos(System.nanoTime() - start).toMillis() / 1000.0);
    return result;
  }

  @Override
  public void undo(StepContext context) {}
}

package graft.deployment.step.host;

import graft.common.disk.PrivateFiles;
import graft.common.values.Endpoint;
import graft.deployment.observe.Snapshot;
import graft.deployment.state.ServerProcess;
import graft.deployment.step.Await;
import graft.deployment.step.Chain;
import graft.deployment.step.Step;
import graft.deployment.step.StepContext;
import graft.deployment.step.StepFailure;
import graft.hypervisors.kvm.UsernetProgram;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Starts the network on which guests reach the server of their GPU and nothing else, as a process
 * of its own.
 *
 * @param port the port of the loopback to which the guests' cards are connected
 * @param server the server's address, seen from the host
 */
public record StartClosedNetwork(String gpu, int port, Endpoint server, Path pidFile, Path log)
    implements Step {
  private static final Await READY = new Await(Duration.ofMinutes(1), Duration.ofMillis(20));

  @Override
  public Chain chain() {
    return Chain.server(gpu);
  }

  @Override
  public String name() {
    return "closed-network";
  }

  @Override
  public String describe() {
    return "start the network on which guests reach " + server + " and nothing else";
  }

  @Override
  public boolean isDone(Snapshot snapshot) {
    return snapshot.servers().contains(pidFile);
  }

  /** The server does not depend on it. */
  @Override
  public boolean isPluggable() {
    return true;
  }

  @Override
  public Map<String, Object> apply(StepContext context) throws Exception {
    ServerProcess.stop(pidFile); // of an interrupted run
    PrivateFiles.write(log, new byte[0]);
    UsernetProgram program =
        UsernetProgram.find()
            .orElseThrow(
                () ->
                    new StepFailure(
                        "cannot start the closed network: " + UsernetProgram.obstacle().orElse(""),
                        "run ./graft build, or write networks: [user] for the guests"));
    // A session of its own, so that Ctrl-C in this terminal does not end it.
    List<String> command = new ArrayList<>(List.of("setsid"));
    command.addAll(
        program.serve(port, server.host() + ":" + server.port(), server.port(), pidFile));
    Process process =
        new ProcessBuilder(command)
            .redirectInput(ProcessBuilder.Redirect.from(Path.of("/dev/null").toFile()))
            .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()))
            .redirectErrorStream(true)
            .start();
    // It writes its pid file once it listens.
    Await.Outcome outcome =
        READY.until(
            () -> {
              if (ServerProcess.recorded(pidFile).isPresent()) {
                return Await.Answer.YES;
              }
              return process.isAlive() ? Await.Answer.NOT_YET : Await.Answer.NEVER;
            },
            seconds -> context.progress(this, "waiting for it to listen, " + seconds + " s"),
            context::isStopping);
    if (outcome != Await.Outcome.READY) {
      process.destroy();
      throw new StepFailure(
          "the closed network of '" + gpu + "' did not start: " + Files.readString(log).strip(),
          "fix what the message names, then apply again");
    }
    return Map.of("pid", process.pid());
  }

  @Override
  public void undo(StepContext context, Map<String, Object> before) throws Exception {
    ServerProcess.stop(pidFile);
    PrivateFiles.delete(log);
  }
}

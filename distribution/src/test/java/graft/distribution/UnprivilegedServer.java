package graft.distribution;

import graft.common.disk.PrivateFiles;
import graft.common.grants.TokensFile;
import graft.common.values.Endpoint;
import graft.common.values.Name;
import graft.deployment.apply.ApplyListener;
import graft.deployment.apply.LiveContext;
import graft.deployment.apply.Steps;
import graft.deployment.journal.Journal;
import graft.deployment.observe.Connections;
import graft.deployment.state.ServerFolder;
import graft.deployment.state.StateFolder;
import graft.deployment.step.Step;
import graft.deployment.step.StepContext;
import graft.deployment.step.host.MakeServerUser;
import graft.deployment.step.host.RunServer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A program that does what {@code graft apply} does for a host's server, and undoes it when its
 * standard input ends. Arguments: a folder, an address.
 */
final class UnprivilegedServer {
  private UnprivilegedServer() {}

  public static void main(String[] args) throws Exception {
    Path folder = Path.of(args[0]);
    StateFolder state = new StateFolder(new Name("lab"), folder.resolve("lab"));
    Name gpu = new Name("gpu0");
    Files.createDirectories(state.path());
    ServerFolder its = ServerFolder.of(state, gpu);
    List<Step> steps =
        List.of(
            new MakeServerUser("lab", MakeServerUser.folder(folder)),
            new RunServer(
                "gpu0",
                List.of(Endpoint.parse(args[1])),
                "software",
                Optional.empty(),
                1,
                List.of(),
                its.instance(),
                false,
                state.serverPid(gpu),
                state.serverLog(gpu),
                List.of("--idle-timeout", "1h", "--audit", its.audit().toString())));
    try (Journal journal = Journal.open(state.journal(), Steps.CODEC, Clock.systemUTC())) {
      StepContext context = new LiveContext(new Connections(), journal, ApplyListener.NONE);
      try {
        for (Step step : steps) {
          step.apply(context);
        }
        new TokensFile(its.tokens()).grant(SoftwareServer.NAME, SoftwareServer.TOKEN, "");
        PrivateFiles.write(folder.resolve("started"), new byte[0]);
        while (System.in.read() >= 0) {
          // until the end
        }
      } finally {
        for (int i = steps.size() - 1; i >= 0; i--) {
          steps.get(i).undo(context, Map.of());
        }
      }
    }
  }
}

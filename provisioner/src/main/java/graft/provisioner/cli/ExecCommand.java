package graft.provisioner.cli;

import graft.hypervisors.libvirt.AgentCommand;
import graft.hypervisors.libvirt.AgentResult;
import graft.hypervisors.libvirt.Guest;
import graft.provisioner.GraftException;
import graft.provisioner.bind.Spelling;
import graft.provisioner.journal.JournalState;
import graft.provisioner.observe.Connections;
import graft.provisioner.step.guest.DefineGuest;
import graft.provisioner.values.TimeSpan;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code graft exec}: runs a command in a guest. */
@Command(
    name = "exec",
    mixinStandardHelpOptions = true,
    header = "Runs a command in a guest.",
    description = {
      "",
      "The guest's agent runs the program, as root and without a shell, and its output is shown"
          + " when it has ended. No network is needed. Ends with the program's exit code, 128 and"
          + " the signal's number if a signal ended it, or 125 if it could not be run.",
      ""
    },
    footerHeading = "%nExamples:%n",
    footer = {
      "  graft exec lab.yaml alice -- nvidia-smi",
      "  graft exec lab alice -- /bin/sh -c 'cat /etc/graft/client.conf'"
    })
final class ExecCommand implements Callable<Integer> {
  /** As docker and env have it: the program was not run. */
  static final int NOT_RUN = 125;

  @Mixin Output output;
  @Mixin Target target;

  @Parameters(index = "1", paramLabel = "GUEST", description = "The guest's name.")
  String guest;

  @Parameters(
      index = "2..*",
      arity = "1..*",
      paramLabel = "PROGRAM",
      description = "The program and its arguments, after --.")
  List<String> words;

  @Option(
      names = "--timeout",
      paramLabel = "TIME",
      defaultValue = "5m",
      description = "How long it may run, then it is killed (default: ${DEFAULT-VALUE}).")
  TimeSpan timeout;

  @Override
  public Integer call() throws Exception {
    JournalState journal = Target.journal(target.state());
    DefineGuest defined = defined(journal, guest);
    try (Connections connections = new Connections()) {
      AgentResult ended = run(connections, defined, words, timeout);
      int code =
          ended.exitCode().isPresent()
              ? ended.exitCode().getAsInt()
              : 128 + ended.signal().orElse(0);
      if (!output.isJson()) {
        System.out.write(ended.output());
        System.out.flush();
        System.err.write(ended.errorOutput());
        System.err.flush();
      }
      Map<String, Object> tree = new LinkedHashMap<>();
      tree.put("guest", guest);
      tree.put("exitCode", code);
      tree.put("stdout", ended.outputText());
      tree.put("stderr", ended.errorText());
      tree.put("truncated", ended.truncated());
      output.result(tree);
      return code;
    } catch (graft.hypervisors.libvirt.HypervisorException e) {
      output.err().println("graft exec: " + e.getMessage());
      output.err().flush();
      return NOT_RUN;
    }
  }

  /** The guest as it was defined. */
  static DefineGuest defined(JournalState journal, String guest) {
    return journal
        .entry("guest/" + guest + "/define")
        .map(entry -> (DefineGuest) entry.step())
        .orElseThrow(
            () ->
                new GraftException(
                    "there is no guest '" + guest + "' in this set-up",
                    Spelling.hint(
                        guest,
                        journal.entries().values().stream()
                            .filter(e -> e.step() instanceof DefineGuest)
                            .map(e -> e.step().lane().name())
                            .toList())));
  }

  /** Runs a program in a guest and waits for its end. */
  static AgentResult run(
      Connections connections, DefineGuest defined, List<String> words, TimeSpan timeout) {
    Guest domain =
        connections
            .get(defined.uri())
            .guest(defined.guest())
            .filter(g -> g.uuid().toString().equals(defined.uuid()))
            .orElseThrow(
                () ->
                    new GraftException(
                        "libvirt has no guest '" + defined.guest() + "' any more",
                        "graft apply makes it again"));
    String[] arguments = words.subList(1, words.size()).toArray(String[]::new);
    return domain
        .agent()
        .exec(AgentCommand.of(words.get(0), arguments).withTimeout(timeout.toDuration()));
  }
}

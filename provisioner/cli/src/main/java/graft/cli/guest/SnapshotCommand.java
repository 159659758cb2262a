package graft.cli.guest;

import graft.cli.deployment.DataOption;
import graft.cli.deployment.PowerPatience;
import graft.cli.deployment.Target;
import graft.cli.printed.GuestForms;
import graft.cli.terminal.ExitCode;
import graft.cli.terminal.OperatorAudit;
import graft.cli.terminal.Output;
import graft.cli.terminal.Prints;
import graft.cli.terminal.TextProgress;
import graft.common.values.MemorySize;
import graft.deployment.PowerRun.Stopping;
import graft.deployment.snapshot.GuestSnapshot;
import graft.deployment.snapshot.ListedSnapshots;
import graft.deployment.snapshot.SnapshotName;
import graft.deployment.snapshot.SnapshotRun;
import graft.deployment.state.StateFolder;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code graft snapshot}: snapshots of a guest's disks. */
@Command(
    name = "snapshot",
    mixinStandardHelpOptions = true,
    header = "Makes, lists, restores and deletes snapshots of a guest's disks.",
    synopsisSubcommandLabel = "COMMAND",
    description = {
      "",
      "A snapshot holds the content of all disks that Graft made for a guest, inside the disks' own"
          + " files. The guest has to be off: --stop stops it and starts it again. Memory, disks"
          + " that Graft did not make and the variables of UEFI firmware are not part of it."
          + " Destroying the guest deletes its snapshots with its disks.",
      ""
    },
    subcommands = {
      SnapshotCommand.Create.class,
      SnapshotCommand.ListAll.class,
      SnapshotCommand.Restore.class,
      SnapshotCommand.Delete.class
    },
    footerHeading = "%nExamples:%n",
    footer = {
      "  graft snapshot create --stop lab alice before-upgrade",
      "  graft snapshot list lab alice",
      "  graft snapshot restore --stop lab alice before-upgrade",
      "  graft snapshot delete lab alice before-upgrade"
    })
public final class SnapshotCommand implements Runnable {
  @Spec CommandSpec spec;

  @Override
  public void run() {
    throw new ParameterException(
        spec.commandLine(), "which command? graft snapshot --help lists them");
  }

  /** What all of the commands have. */
  abstract static class OfGuest implements Callable<Integer> {
    @Mixin Output output;
    @Mixin Target target;

    @Parameters(index = "1", paramLabel = "GUEST", description = "The guest's name.")
    String guest;

    final SnapshotRun snapshots(StateFolder state) {
      return new SnapshotRun(state, guest, new TextProgress(output.err()));
    }
  }

  /** What the commands have that change something. */
  @Prints(GuestForms.ChangedSnapshots.class)
  abstract static class Change extends OfGuest {
    @Parameters(index = "2", paramLabel = "NAME", description = "The snapshot's name.")
    SnapshotName name;

    @Option(
        names = "--stop",
        description = "Shut the guest down if it runs, and start it again afterwards.")
    boolean stop;

    @Mixin PowerPatience patience;

    final Optional<Stopping> stopping() {
      return stop ? Optional.of(patience.stopping()) : Optional.empty();
    }

    /**
     * Tells what was done, with what is there now.
     *
     * @param done in a word: {@code restored}
     */
    final int report(String done, StateFolder state, ListedSnapshots now) {
      Map<String, Object> about = new LinkedHashMap<>();
      about.put("deployment", state.deployment().text());
      about.put("guest", guest);
      about.put("snapshot", name.text());
      OperatorAudit.write(output.err(), "snapshot-" + done, about);
      output.say("guest " + guest + ": snapshot '" + name + "' " + done);
      now.snapshots().stream()
          .filter(one -> one.name().equals(name.text()) && !one.lacking().isEmpty())
          .forEach(
              one -> output.say("not in it, made later: disk " + String.join(", ", one.lacking())));
      now.notCovered().forEach(one -> output.say("not in it: " + one));
      about.put("done", done);
      about.putAll(now.toTree());
      output.result(about);
      return ExitCode.OK;
    }
  }

  /** {@code graft snapshot create}. */
  @Command(
      name = "create",
      mixinStandardHelpOptions = true,
      header = "Makes a snapshot of the disks of a guest that is off.")
  static final class Create extends Change {
    @Override
    public Integer call() throws Exception {
      StateFolder state = target.state();
      return report("created", state, snapshots(state).create(name, stopping()));
    }
  }

  /** {@code graft snapshot restore}. */
  @Command(
      name = "restore",
      mixinStandardHelpOptions = true,
      header = "Gives the disks the content of a snapshot, and deletes what they got since.")
  static final class Restore extends Change {
    @Mixin DataOption data;

    @Override
    public Integer call() throws Exception {
      StateFolder state = target.state();
      return report(
          "restored", state, snapshots(state).restore(name, stopping(), data.consent(output)));
    }
  }

  /** {@code graft snapshot delete}. */
  @Command(
      name = "delete",
      mixinStandardHelpOptions = true,
      header = "Deletes a snapshot; the disks keep what they have now.")
  static final class Delete extends Change {
    @Mixin DataOption data;

    @Override
    public Integer call() throws Exception {
      StateFolder state = target.state();
      return report(
          "deleted", state, snapshots(state).delete(name, stopping(), data.consent(output)));
    }
  }

  /** {@code graft snapshot list}. */
  @Prints(GuestForms.Snapshots.class)
  @Command(
      name = "list",
      mixinStandardHelpOptions = true,
      header = "Lists the snapshots of a guest, oldest first.")
  static final class ListAll extends OfGuest {
    @Override
    public Integer call() throws Exception {
      ListedSnapshots all = snapshots(target.state()).list();
      lines(all).forEach(output::say);
      output.result(all.toTree());
      return ExitCode.OK;
    }
  }

  /** The list as people read it. */
  static List<String> lines(ListedSnapshots all) {
    List<String> lines = new ArrayList<>();
    for (GuestSnapshot one : all.snapshots()) {
      lines.add(
          one.name()
              + "  "
              + one.taken()
              + "  "
              + String.join(", ", one.disks())
              + "  "
              + one.kind().words());
    }
    if (all.snapshots().isEmpty()) {
      lines.add("no snapshots");
    }
    lines.add(
        "guest "
            + all.guest()
            + " is "
            + all.guestState()
            + "; its disks take "
            + new MemorySize(all.bytes()).rounded()
            + ", with their snapshots");
    all.notCovered().forEach(one -> lines.add("not in its snapshots: " + one));
    return lines;
  }
}

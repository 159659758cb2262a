package graft.cli.guest;

import graft.cli.deployment.Target;
import graft.cli.printed.GuestForms;
import graft.cli.terminal.ExitCode;
import graft.cli.terminal.Output;
import graft.cli.terminal.Prints;
import graft.common.GraftException;
import graft.common.values.TimeSpan;
import graft.comparison.results.Results;
import graft.deployment.AppliedGuest;
import graft.deployment.Deployments;
import graft.deployment.GuestVerification;
import graft.deployment.journal.JournalState;
import graft.deployment.observe.Connections;
import graft.deployment.state.StateFolder;
import graft.guests.connection.CudaCheck;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code graft verify}: tests guests' vGPUs with a CUDA program. */
@Prints({GuestForms.Verified.class, GuestForms.MeasuredChannels.class})
@Command(
    name = "verify",
    mixinStandardHelpOptions = true,
    header = "Runs a CUDA program in guests and reports on their vGPUs.",
    description = {
      "",
      "Reports each device and the channel to its server, the speed of copies and launches on the"
          + " first, and whether the guest's client is that of this Graft. Ends with 1 if the"
          + " program fails in a guest, with 7 if a client is of another version.",
      "",
      "With --channels it measures each channel that a guest is set up for: the time of a round"
          + " trip and the speed of large copies. It reports which channel the client uses and"
          + " whether another one is faster, and ends with 1 if one of them does not work. The"
          + " results are kept: graft status and graft plan show them, and with channel: auto graft"
          + " apply gives the client the order that follows from them.",
      "",
      "A guest's name alone is enough where only one deployment has a guest of that name.",
      ""
    },
    footerHeading = "%nExamples:%n",
    footer = {
      "  graft verify lab.yaml",
      "  graft verify alice",
      "  graft verify lab alice",
      "  graft verify --channels lab alice"
    })
public final class VerifyCommand implements Callable<Integer> {
  @Mixin Output output;
  @Mixin Target target;

  @Parameters(
      index = "1..*",
      paramLabel = "GUEST",
      description = "The guests; all with a vGPU if none is named.")
  List<String> guests;

  @Option(names = "--channels", description = "Measure every channel of each guest.")
  boolean channels;

  @Option(
      names = "--timeout",
      paramLabel = "TIME",
      defaultValue = "5m",
      description = "The time limit of the program in a guest (default: ${DEFAULT-VALUE}).")
  TimeSpan timeout;

  @Override
  public Integer call() throws Exception {
    Optional<StateFolder> ofGuest =
        guests == null ? Deployments.ofGuest(target.given) : Optional.empty();
    if (ofGuest.isPresent()) {
      guests = List.of(target.given);
    }
    StateFolder state = ofGuest.isPresent() ? ofGuest.get() : target.state();
    JournalState journal = Deployments.journal(state);
    try (Connections connections = new Connections()) {
      List<AppliedGuest> chosen =
          chosen(journal).stream().map(name -> AppliedGuest.of(journal, name)).toList();
      GuestVerification verification = new GuestVerification(connections, timeout.toDuration());
      return channels
          ? measure(chosen, verification, state, journal.descriptor())
          : verify(chosen, verification);
    }
  }

  private int measure(
      List<AppliedGuest> chosen,
      GuestVerification verification,
      StateFolder state,
      String descriptor) {
    List<Map<String, Object>> guests = new ArrayList<>();
    Results results = new Results();
    boolean well = true;
    for (AppliedGuest guest : chosen) {
      GuestVerification.Channels measured = verification.measure(guest, state, descriptor);
      output.say(
          "guest " + guest.name() + ":\n" + ChannelTable.of(measured.rows()) + measured.choice());
      Map<String, Object> tree = new LinkedHashMap<>();
      tree.put("guest", guest.name());
      tree.put("channels", measured.rows());
      tree.put("choice", measured.choice());
      measured.order().ifPresent(order -> tree.put("order", order.order()));
      measured.order().ifPresent(order -> tree.put("reason", order.reason()));
      guests.add(tree);
      results.addAll(ChannelTable.results(guest.name(), measured.measured()));
      well &= measured.allWork();
    }
    output.result(Map.of("guests", guests, "measurements", results.trees()));
    return well ? ExitCode.OK : ExitCode.FAILED;
  }

  private int verify(List<AppliedGuest> chosen, GuestVerification verification) {
    List<Map<String, Object>> rows = new ArrayList<>();
    for (AppliedGuest guest : chosen) {
      Map<String, Object> row = verification.verify(guest);
      rows.add(row);
      output.say(line(row));
    }
    output.result(Map.of("guests", rows));
    if (!rows.stream().allMatch(row -> "ok".equals(row.get("result")))) {
      return ExitCode.FAILED;
    }
    boolean same = rows.stream().allMatch(row -> Boolean.TRUE.equals(row.get("clientIsCurrent")));
    return same ? ExitCode.OK : ExitCode.DIFFERS;
  }

  private List<String> chosen(JournalState journal) {
    if (guests != null) {
      return guests;
    }
    List<String> all = AppliedGuest.withClient(journal);
    if (all.isEmpty()) {
      throw new GraftException("no guest of this deployment has a vGPU", "");
    }
    return all;
  }

  private static String line(Map<String, Object> row) {
    StringBuilder text = new StringBuilder("guest " + row.get("guest") + ": ");
    if (!"ok".equals(row.get("result"))) {
      return text.append(row.get("result")).toString();
    }
    text.append("ok on ").append(CudaCheck.devices(row, "at"));
    text.append(row.containsKey("channel") ? "" : " at " + row.get("server"));
    text.append("\n  copies: ")
        .append(row.get("host_to_device_mb_s"))
        .append(" MB/s to the device, ");
    text.append(row.get("device_to_host_mb_s")).append(" MB/s from the device");
    text.append("\n  round trip: ").append(row.get("round_trip_us")).append(" us, launch ");
    text.append(row.get("launch_us")).append(" us, launch and synchronize ");
    text.append(row.get("launch_wait_us")).append(" us");
    text.append("\n  client ").append(row.getOrDefault("client_version", "of an earlier version"));
    text.append(" (").append(row.get("client")).append(')');
    return text.append(
            Boolean.TRUE.equals(row.get("clientIsCurrent"))
                ? ", this Graft's"
                : ", not this Graft's: graft apply updates it")
        .toString();
  }
}

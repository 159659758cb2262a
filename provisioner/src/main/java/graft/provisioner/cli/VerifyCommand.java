package graft.provisioner.cli;

import graft.hypervisors.libvirt.HypervisorException;
import graft.provisioner.GraftException;
import graft.provisioner.image.ImageStore;
import graft.provisioner.journal.JournalState;
import graft.provisioner.observe.Connections;
import graft.provisioner.plan.ChannelBasis;
import graft.provisioner.plan.ChannelChoice;
import graft.provisioner.program.ClientFolder;
import graft.provisioner.reach.CudaCheck;
import graft.provisioner.reach.Reach;
import graft.provisioner.setup.Payload;
import graft.provisioner.state.ChannelMeasurement;
import graft.provisioner.state.MeasuredChannels;
import graft.provisioner.state.StateFolder;
import graft.provisioner.values.TimeSpan;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
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

/** {@code graft verify}: proves guests' vGPUs by a CUDA program. */
@Command(
    name = "verify",
    mixinStandardHelpOptions = true,
    header = "Runs a CUDA program in guests and says how their vGPUs do.",
    description = {
      "",
      "Says the device, the channel to its server, how fast copies and launches are, and whether the"
          + " guest's client is the one of this Graft. Ends with 1 if the program fails in a guest,"
          + " with 7 if a client is another one.",
      "",
      "With --channels it says for each way to the server that a guest is set up for how long a round"
          + " trip takes and how fast large copies are, which one the client takes, and whether"
          + " another one is faster; ends with 1 if one of them does not work. What it found is kept:"
          + " graft status and graft plan show it, and with channel: auto graft apply brings the"
          + " client the order that it speaks for.",
      "",
      "A guest alone will do where one set-up has a guest of that name.",
      ""
    },
    footerHeading = "%nExamples:%n",
    footer = {
      "  graft verify lab.yaml",
      "  graft verify alice",
      "  graft verify lab alice",
      "  graft verify --channels lab alice"
    })
final class VerifyCommand implements Callable<Integer> {
  private static final String LIBRARY = "libcuda.so.1";
  private static final int SHOWN_DIGITS = 12;

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
      description = "How long the program may run in a guest (default: ${DEFAULT-VALUE}).")
  TimeSpan timeout;

  @Override
  public Integer call() throws Exception {
    Optional<StateFolder> ofGuest = guests == null ? target.stateOfGuest() : Optional.empty();
    if (ofGuest.isPresent()) {
      guests = List.of(target.given);
    }
    StateFolder state = ofGuest.isPresent() ? ofGuest.get() : target.state();
    JournalState journal = Target.journal(state);
    try (Connections connections = new Connections()) {
      List<GuestReach> chosen =
          chosen(journal).stream().map(name -> GuestReach.of(journal, name)).toList();
      return channels
          ? measure(chosen, connections, state, journal.descriptor())
          : verify(chosen, connections);
    }
  }

  private int measure(
      List<GuestReach> chosen, Connections connections, StateFolder state, String descriptor) {
    List<Map<String, Object>> guests = new ArrayList<>();
    boolean well = true;
    for (GuestReach guest : chosen) {
      Reach reach = guest.open(connections);
      List<Map<String, Object>> rows =
          new ChannelProbe(words -> reach.run(words, new byte[0], timeout.toDuration()).said())
              .rows();
      ChannelMeasurement measured =
          ChannelProbe.measurement(rows, ChannelBasis.of(guest.steps()), Instant.now());
      new MeasuredChannels(state).keep(guest.name(), measured);
      Optional<ChannelChoice> order =
          ChannelChoice.of(
              state.setup().text(), guest.name(), guest.steps(), Optional.of(measured));
      String choice = ChannelProbe.choice(rows, order, descriptor);
      output.say("guest " + guest.name() + ":\n" + ChannelProbe.table(rows) + choice);
      Map<String, Object> tree = new LinkedHashMap<>();
      tree.put("guest", guest.name());
      tree.put("channels", rows);
      tree.put("choice", choice);
      order.ifPresent(o -> tree.put("order", o.order()));
      order.ifPresent(o -> tree.put("reason", o.reason()));
      guests.add(tree);
      well &= ChannelProbe.allWork(rows);
    }
    output.result(Map.of("guests", guests));
    return well ? ExitCode.OK : ExitCode.FAILED;
  }

  private int verify(List<GuestReach> chosen, Connections connections) {
    List<Map<String, Object>> rows = new ArrayList<>();
    for (GuestReach guest : chosen) {
      Map<String, Object> row = verify(guest, connections);
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
    List<String> all = GuestReach.withClient(journal);
    if (all.isEmpty()) {
      throw new GraftException("no guest of this set-up has a vGPU", "");
    }
    return all;
  }

  private Map<String, Object> verify(GuestReach guest, Connections connections) {
    Map<String, Object> row = new LinkedHashMap<>();
    row.put("guest", guest.name());
    try {
      Reach reach = guest.open(connections);
      row.put("server", setting(reach, "server"));
      client(reach, row);
      // The guest says these, and says none of the others.
      CudaCheck.run(reach, true, timeout.toDuration()).values().forEach(row::putIfAbsent);
    } catch (GraftException | HypervisorException e) {
      row.put("result", "failed: " + e.getMessage());
    }
    return row;
  }

  /** A value of the client's configuration. */
  private static String setting(Reach reach, String key) {
    return GuestPrograms.run(reach, "cat", Payload.CLIENT_CONFIGURATION)
        .lines()
        .map(String::strip)
        .filter(line -> line.startsWith(key + " ="))
        .map(line -> line.substring(line.indexOf('=') + 1).strip())
        .findFirst()
        .orElse("unknown");
  }

  /** Which client the guest has, by the sum of its library. */
  private static void client(Reach reach, Map<String, Object> row) {
    String there =
        GuestPrograms.run(reach, "sha256sum", Payload.CLIENT_FOLDER + "/" + LIBRARY)
            .replaceFirst("\\s.*\\R?", "");
    Path ours = ClientFolder.path(System.getenv()).resolve(LIBRARY);
    row.put("client", there.substring(0, Math.min(SHOWN_DIGITS, there.length())));
    row.put("clientIsCurrent", Files.isReadable(ours) && there.equals(ImageStore.sha256(ours)));
  }

  private static String line(Map<String, Object> row) {
    StringBuilder text = new StringBuilder("guest " + row.get("guest") + ": ");
    if (!"ok".equals(row.get("result"))) {
      return text.append(row.get("result")).toString();
    }
    text.append("ok on ").append(row.get("device"));
    text.append(" at ").append(row.getOrDefault("channel", row.get("server")));
    text.append("\n  copies: ").append(row.get("host_to_device_mb_s")).append(" MB/s there, ");
    text.append(row.get("device_to_host_mb_s")).append(" MB/s back");
    text.append("\n  round trip: ").append(row.get("round_trip_us")).append(" us, launch ");
    text.append(row.get("launch_us")).append(" us, with its end ");
    text.append(row.get("launch_wait_us")).append(" us");
    text.append("\n  client ").append(row.getOrDefault("client_version", "of an earlier version"));
    text.append(" (").append(row.get("client")).append(')');
    return text.append(
            Boolean.TRUE.equals(row.get("clientIsCurrent"))
                ? ", this Graft's"
                : ", not this Graft's: graft apply brings it")
        .toString();
  }
}

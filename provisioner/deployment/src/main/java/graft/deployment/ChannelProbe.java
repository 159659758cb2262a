package graft.deployment;

import graft.deployment.plan.ChannelChoice;
import graft.deployment.state.ChannelMeasurement;
import graft.guests.connection.CudaCheck;
import graft.guests.payload.Payload;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Every channel that a running guest is set up for, measured one after the other by the same CUDA
 * program: {@code graft verify --channels}.
 */
public final class ChannelProbe {
  public static final String ROUND_TRIP = "round_trip_us";
  public static final String TO_DEVICE = "pinned_to_device_mb_s";
  public static final String TO_HOST = "pinned_to_host_mb_s";

  /**
   * The address that the client's configuration names. It comes from the guest, so that it may be
   * anything.
   */
  private static final Pattern ADDRESS =
      Pattern.compile("[a-z][a-z+]{0,15}://[A-Za-z0-9\\[\\].:/_%-]{1,200}");

  /** A path that the client's configuration names, which comes from the guest as well. */
  private static final Pattern TOKEN_FILE = Pattern.compile("/[A-Za-z0-9/._-]{1,200}");

  private static final int MOST_ADDRESSES = 32;

  private static final Pattern NUMBER = Pattern.compile("[0-9]{1,12}(\\.[0-9]{1,9})?");

  private final Guest guest;

  public ChannelProbe(Guest guest) {
    this.guest = guest;
  }

  /** Runs programs in the guest. */
  public interface Guest {
    /** What a program printed, whether it succeeded or not. */
    String run(List<String> words);
  }

  /** A row for each channel, in the order in which the client tries them. */
  public List<Map<String, Object>> rows() {
    List<String> lines = guest.run(List.of("cat", Payload.CLIENT_CONFIGURATION)).lines().toList();
    List<String> servers = items(lines, "server");
    List<String> tokens = items(lines, "token-file");
    List<Map<String, Object>> rows = new ArrayList<>();
    for (int i = 0; i < servers.size(); i++) {
      // Of one server alone the client takes one token.
      boolean own =
          servers.size() > 1
              && servers.size() == tokens.size()
              && TOKEN_FILE.matcher(tokens.get(i)).matches();
      List<String> token = own ? List.of("GRAFT_TOKEN_FILE=" + tokens.get(i)) : List.of();
      for (String address : List.of(servers.get(i).split("[, ]+"))) {
        if (ADDRESS.matcher(address).matches() && rows.size() < MOST_ADDRESSES) {
          rows.add(row(address, token));
        }
      }
    }
    return rows;
  }

  /** The value of a setting for each of the client's servers. */
  private static List<String> items(List<String> lines, String key) {
    return lines.stream()
        .filter(line -> line.startsWith(key + " ="))
        .flatMap(line -> Stream.of(line.substring(line.indexOf('=') + 1).strip().split(" *; *")))
        .toList();
  }

  private Map<String, Object> row(String address, List<String> token) {
    String program = CudaCheck.PROGRAM;
    Map<String, Object> row = new LinkedHashMap<>();
    row.put("channel", ChannelChoice.channel(address));
    row.put("path", address);
    StringBuilder said = new StringBuilder();
    List<String> words = new ArrayList<>(List.of("env", "GRAFT_SERVER=" + address));
    words.addAll(token);
    words.add(program);
    guest
        .run(words)
        .lines()
        .forEach(
            line -> {
              int equals = line.indexOf('=');
              if (equals > 0 && !line.startsWith("graft: ")) {
                row.putIfAbsent(line.substring(0, equals), line.substring(equals + 1));
              } else {
                said.append(said.isEmpty() ? "" : "; ").append(line.strip());
              }
            });
    if (!"ok".equals(row.get("result")) && !said.isEmpty()) {
      row.put("result", "failed: " + said);
    }
    row.putIfAbsent("result", "failed: the program said nothing");
    return row;
  }

  /** The measurements in the rows, for the state folder. */
  public static ChannelMeasurement measurement(
      List<Map<String, Object>> rows, List<String> basis, Instant when) {
    return new ChannelMeasurement(
        when.truncatedTo(ChronoUnit.SECONDS),
        basis,
        rows.stream().flatMap(row -> figures(row).stream()).toList());
  }

  /** Empty if the program succeeded without printing figures. */
  private static Optional<ChannelMeasurement.Figures> figures(Map<String, Object> row) {
    String address = row.get("path").toString();
    if (!works(row)) {
      return Optional.of(new ChannelMeasurement.Figures(address, Optional.empty()));
    }
    return Stream.of(ROUND_TRIP, TO_DEVICE, TO_HOST).allMatch(key -> hasNumber(row, key))
        ? Optional.of(
            new ChannelMeasurement.Figures(
                address,
                Optional.of(
                    new ChannelMeasurement.Speed(
                        number(row, ROUND_TRIP), number(row, TO_DEVICE), number(row, TO_HOST)))))
        : Optional.empty();
  }

  private static boolean hasNumber(Map<String, Object> row, String key) {
    return NUMBER.matcher(String.valueOf(row.get(key))).matches();
  }

  private static double number(Map<String, Object> row, String key) {
    return Double.parseDouble(row.get(key).toString());
  }

  /**
   * A sentence: which channel the client uses, which is the first that works, and whether {@code
   * auto} chooses another order by the measurements.
   *
   * @param choice absent if the guest's client is not Graft's
   * @param descriptor the descriptor's file, for the command that the sentence names
   */
  public static String choice(
      List<Map<String, Object>> rows, Optional<ChannelChoice> choice, String descriptor) {
    List<String> there = rows.stream().map(row -> row.get("path").toString()).toList();
    Optional<Map<String, Object>> taken = rows.stream().filter(ChannelProbe::works).findFirst();
    if (choice.isPresent() && choice.get().by() == ChannelChoice.By.SEVERAL_SERVERS) {
      return "the client takes the first of each server that works; " + choice.get().reason();
    } else if (taken.isEmpty()) {
      return "the client has no channel that works";
    }
    String takes = "the client takes " + taken.get().get("path");
    if (choice.isEmpty()) {
      return takes + ", as a configuration says that Graft did not write";
    } else if (choice.get().by() != ChannelChoice.By.MEASURED) {
      return takes + "; " + choice.get().reason();
    } else if (choice.get().differsFrom(there)) {
      return takes
          + "; auto would try "
          + String.join(", ", choice.get().order())
          + " in this order ("
          + choice.get().reason()
          + "): run graft apply "
          + descriptor;
    }
    return choice.get().order().equals(there)
        ? takes + ", and none is faster"
        : takes + ", as its configuration says, which is not as Graft wrote it";
  }

  private static boolean works(Map<String, Object> row) {
    return "ok".equals(row.get("result"));
  }

  /** Whether the program succeeded over every channel. */
  public static boolean allWork(List<Map<String, Object>> rows) {
    return !rows.isEmpty() && rows.stream().allMatch(ChannelProbe::works);
  }
}

package graft.deployment.hosts;

import graft.common.json.Json;
import graft.common.values.Name;
import graft.hypervisors.libvirt.calls.GuestText;
import java.io.IOException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * What a host answered, or why it did not. Whatever another machine wrote is data: it is shown with
 * its control characters made visible, and nothing of it is executed.
 *
 * @param outcome what became of the request
 * @param code the exit code of the host's Graft; 4 if it did not begin, 1 if it is not known
 * @param tree what it printed as JSON; empty if nothing
 * @param error why the request failed; empty if it did not
 * @param clock how far the host's clock is ahead
 */
public record HostReply(
    Name host, Outcome outcome, int code, Map<String, Object> tree, String error, Duration clock) {
  /** Clocks that differ more than this are named: logs, audit trails and certificates disagree. */
  private static final Duration MOST_CLOCK = Duration.ofSeconds(5);

  private static final int MOST_CHARACTERS = 2000;

  /** Graft's exit code for a host that does not fit; see docs/exit-codes.md. */
  private static final int UNFIT = 4;

  /** What became of a request. */
  public enum Outcome {
    /** The host's Graft ended with 0, or with 7: it answered, and differs. */
    DONE,
    /** The host's Graft failed, or did not begin: the host let nobody in, or had no room for it. */
    FAILED,
    /** The host was not reached, or answered nonsense: what it did is not known. */
    UNREACHABLE,
    /** The host was not asked, since another one failed before. */
    NOT_BEGUN
  }

  /** A host that was not asked. */
  static HostReply notBegun(Name host, String why) {
    return new HostReply(host, Outcome.NOT_BEGUN, 1, Map.of(), why, Duration.ZERO);
  }

  /** A host on which nothing was begun, since it does not let Graft in or has no room for it. */
  static HostReply refused(Name host, String why) {
    return new HostReply(host, Outcome.FAILED, UNFIT, Map.of(), line(why), Duration.ZERO);
  }

  /** A host whose Graft did not answer. */
  public static HostReply unreachable(Name host, String why) {
    return new HostReply(host, Outcome.UNREACHABLE, 1, Map.of(), line(why), Duration.ZERO);
  }

  /**
   * What the Graft of a host answered.
   *
   * @param printed its standard output after the first line
   * @param said the last line that it wrote to standard error
   */
  static HostReply of(Name host, int code, String printed, String said, Duration clock) {
    Map<String, Object> tree = Map.of();
    if (!printed.isBlank()) {
      try {
        tree = Json.readObject(printed);
      } catch (IOException e) {
        return unreachable(host, "its Graft printed no JSON object");
      }
    } else if (code == 0) {
      return unreachable(host, "its Graft ended with 0 and printed nothing");
    }
    if (code == 0 || (code == 7 && !tree.containsKey("error"))) {
      return new HostReply(host, Outcome.DONE, code, tree, "", clock);
    }
    Object error = tree.get("error");
    String why = error instanceof String text ? text : said;
    String shown = why.isBlank() ? "its Graft ended with " + code : line(why);
    return new HostReply(host, Outcome.FAILED, code, tree, shown, clock);
  }

  private static String line(String text) {
    return GuestText.line(text, MOST_CHARACTERS);
  }

  public boolean isDone() {
    return outcome == Outcome.DONE;
  }

  /** A warning if the clocks differ by more than a few seconds; empty otherwise. */
  public String clockWarning() {
    return clock.abs().compareTo(MOST_CLOCK) <= 0
        ? ""
        : host
            + ": its clock is "
            + clock.abs().toSeconds()
            + " s "
            + (clock.isNegative() ? "behind" : "ahead of")
            + " this machine's; logs and audit trails do not agree (set it by NTP)";
  }

  /** A list of its JSON, of objects alone. */
  public List<Map<?, ?>> objects(String key) {
    return tree.get(key) instanceof List<?> list
        ? list.stream()
            .filter(Map.class::isInstance)
            .<Map<?, ?>>map(one -> (Map<?, ?>) one)
            .toList()
        : List.of();
  }

  /** A list of its JSON, of text alone. */
  public List<String> texts(String key) {
    return tree.get(key) instanceof List<?> list
        ? list.stream().filter(String.class::isInstance).map(String.class::cast).toList()
        : List.of();
  }

  /** A number of its JSON; 0 if it has none. */
  public long number(String key) {
    return tree.get(key) instanceof Number number ? number.longValue() : 0;
  }

  /** As a tree for JSON; the host's own answer is under {@code answer}. */
  public Map<String, Object> toTree() {
    Map<String, Object> all = new LinkedHashMap<>();
    all.put("host", host.text());
    all.put("outcome", outcome.name().toLowerCase(Locale.ROOT).replace('_', '-'));
    all.put("exitCode", code);
    all.put("error", error.isEmpty() ? null : error);
    all.put("clockSeconds", clock.toMillis() / 1000.0);
    all.put("answer", tree);
    return all;
  }
}

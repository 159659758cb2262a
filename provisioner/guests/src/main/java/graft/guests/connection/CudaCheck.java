package graft.guests.connection;

import graft.common.values.Seconds;
import graft.guests.payload.Payload;
import graft.hypervisors.libvirt.calls.GuestText;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The output of the client's check program in a guest.
 *
 * @param values the lines {@code KEY=VALUE} of the output
 * @param said the whole output
 * @param seconds the program's run time, including the calls of the guest connection
 */
public record CudaCheck(Map<String, String> values, String said, double seconds) {
  /** The path of the program in the guest. */
  public static final String PROGRAM = Payload.CLIENT_FOLDER + "/graft-verify";

  /**
   * Limits on the values that are kept, because they go into the journal and onto a terminal: the
   * form of a line, the number of values and their length.
   */
  private static final Pattern VALUE = Pattern.compile("(?m)^([a-z][a-z0-9_]{0,39})=(.*)$");

  private static final int MOST_VALUES = 64;
  private static final int MOST_CHARACTERS = 400;

  /**
   * Runs the program.
   *
   * @param measure whether the program also measures copies and launches
   */
  public static CudaCheck run(GuestConnection connection, boolean measure, Duration timeout) {
    List<String> words = new ArrayList<>(List.of(PROGRAM));
    if (!measure) {
      words.add("--no-measure");
    }
    long start = System.nanoTime();
    Ended ended = connection.run(words, new byte[0], timeout);
    double seconds = Seconds.since(start);
    Map<String, String> values = new LinkedHashMap<>();
    Matcher value = VALUE.matcher(ended.outputText());
    while (values.size() < MOST_VALUES && value.find()) {
      values.put(value.group(1), GuestText.line(value.group(2), MOST_CHARACTERS));
    }
    if (!ended.succeeded()) {
      values.put("result", "failed: " + ended.said());
    }
    return new CudaCheck(values, ended.said(), seconds);
  }

  /**
   * The devices in the values of a check, each with the channel to it where the program names one:
   * {@code A by shm:///run/s; B by tcp://h:1} with the word {@code by}.
   */
  public static String devices(Map<?, ?> values, String word) {
    StringBuilder text = new StringBuilder();
    String number = "";
    for (int i = 1; values.get("device" + number) != null; i++) {
      text.append(text.isEmpty() ? "" : "; ").append(values.get("device" + number));
      Object channel = values.get("channel" + number);
      text.append(channel == null ? "" : " " + word + " " + channel);
      number = "_" + i;
    }
    return text.toString();
  }

  public boolean isWell() {
    return "ok".equals(values.get("result"));
  }
}

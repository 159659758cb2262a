package graft.guests.machine;

import graft.hypervisors.libvirt.calls.GuestText;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What a machine says about itself. The machine is not trusted: each text is one short line without
 * control characters, and there are at most as many as were asked for.
 *
 * @param system the name of its kernel: {@code Linux}
 * @param cpu its architecture, as {@code uname -m} prints it
 * @param name its host name
 * @param libc the C library: {@code musl}, {@code none}, or that of GNU
 * @param missing programs that are needed and not there
 * @param there the paths that exist, of those that were asked for
 * @param readonly folders that nothing can be written to
 * @param free the free KiB of folders
 * @param owner whose client the machine has, as {@link Machine#keep} got it
 * @param client the SHA-256 of the client's library
 */
public record MachineReport(
    String system,
    String cpu,
    String name,
    String libc,
    List<String> missing,
    List<String> there,
    List<String> readonly,
    Map<String, Long> free,
    Optional<String> owner,
    Optional<String> client) {
  private static final Pattern LINE = Pattern.compile("(?m)^([a-z]{1,10})=(.*)$");
  private static final Pattern FREE = Pattern.compile("([0-9]{1,15}) (/.*)");
  private static final Pattern CHECKSUM = Pattern.compile("[0-9a-f]{64}");
  private static final int MOST_CHARACTERS = 200;
  private static final int MOST_PROGRAMS = 20;
  private static final int MOST_LINES = 1000;

  /**
   * Reads the output of the script's {@code probe}.
   *
   * @param asked the paths that were asked for
   * @return empty if it is not such an output
   */
  static Optional<MachineReport> read(String text, List<String> asked) {
    Map<String, List<String>> values = new LinkedHashMap<>();
    Matcher line = LINE.matcher(text);
    for (int i = 0; i < MOST_LINES && line.find(); i++) {
      values
          .computeIfAbsent(line.group(1), key -> new ArrayList<>())
          .add(GuestText.line(line.group(2), MOST_CHARACTERS));
    }
    if (!values.containsKey("end")) {
      return Optional.empty();
    }
    Map<String, Long> free = new LinkedHashMap<>();
    for (String said : values.getOrDefault("free", List.of())) {
      Matcher one = FREE.matcher(said);
      if (one.matches() && isAbove(one.group(2), asked)) {
        free.put(one.group(2), Long.parseLong(one.group(1)));
      }
    }
    return Optional.of(
        new MachineReport(
            first(values, "system"),
            first(values, "cpu"),
            first(values, "name"),
            first(values, "libc"),
            values.getOrDefault("missing", List.of()).stream().limit(MOST_PROGRAMS).toList(),
            asked.stream().filter(values.getOrDefault("there", List.of())::contains).toList(),
            values.getOrDefault("readonly", List.of()).stream()
                .filter(folder -> isAbove(folder, asked))
                .distinct()
                .toList(),
            free,
            values.getOrDefault("owner", List.of()).stream().findFirst(),
            values.getOrDefault("client", List.of()).stream()
                .filter(sum -> CHECKSUM.matcher(sum).matches())
                .findFirst()));
  }

  private static boolean isAbove(String folder, List<String> asked) {
    return asked.stream().anyMatch(path -> path.startsWith(folder) && !path.equals(folder));
  }

  private static String first(Map<String, List<String>> values, String key) {
    return values.getOrDefault(key, List.of("")).get(0);
  }
}

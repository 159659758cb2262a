package graft.cli.slurm;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The lines of a configuration file of Slurm, in which Graft's own lines stand between two marks,
 * so that removing them gives the file back as it was.
 *
 * @param lines the lines, without their ends
 * @see <a href="https://slurm.schedmd.com/slurm.conf.html">slurm.conf(5)</a>
 */
record SlurmConf(List<String> lines) {
  private static final String BEGIN = "# begin graft: graft slurm uninstall removes these lines";
  private static final String END = "# end graft";
  private static final Pattern KEY = Pattern.compile("\\s*([A-Za-z]+)\\s*=\\s*([^#]*).*");
  private static final Pattern NODES = Pattern.compile("(?i)\\s*(NodeName\\s*=|Include\\s).*");

  /** Copies the lines. */
  SlurmConf {
    lines = List.copyOf(lines);
  }

  static SlurmConf of(String text) {
    return new SlurmConf(text.lines().toList());
  }

  /** The text of the file. */
  String text() {
    return lines.isEmpty() ? "" : String.join("\n", lines) + "\n";
  }

  /** The value of a key; the default if the file has none. The last line counts, as in Slurm. */
  String value(String key, String otherwise) {
    String value = otherwise;
    for (String line : lines) {
      Matcher matcher = KEY.matcher(line);
      if (matcher.matches() && matcher.group(1).equalsIgnoreCase(key)) {
        value = matcher.group(2).strip();
      }
    }
    return value;
  }

  /** The lines that set one of these keys, each with its number and what it has. */
  List<String> setting(Iterable<String> keys) {
    Map<String, String> wanted = new LinkedHashMap<>();
    keys.forEach(key -> wanted.put(key.toLowerCase(Locale.ROOT), key));
    List<String> found = new ArrayList<>();
    for (int i = 0; i < lines.size(); i++) {
      Matcher matcher = KEY.matcher(lines.get(i));
      if (matcher.matches() && wanted.containsKey(matcher.group(1).toLowerCase(Locale.ROOT))) {
        found.add("line " + (i + 1) + ": " + lines.get(i).strip());
      }
    }
    return found;
  }

  /** Whether Graft's lines are there. */
  boolean hasBlock() {
    return lines.contains(BEGIN);
  }

  /** This file with Graft's lines before its first line about nodes, or at its end. */
  SlurmConf with(List<String> own) {
    int at = 0;
    while (at < lines.size() && !NODES.matcher(lines.get(at)).matches()) {
      at++;
    }
    List<String> after = new ArrayList<>(lines.subList(0, at));
    after.add(BEGIN);
    after.addAll(own);
    after.add(END);
    after.addAll(lines.subList(at, lines.size()));
    return new SlurmConf(after);
  }

  /** This file without Graft's lines. */
  SlurmConf without() {
    int begin = lines.indexOf(BEGIN);
    int end = lines.indexOf(END);
    if (begin < 0 || end < begin) {
      return this;
    }
    List<String> after = new ArrayList<>(lines.subList(0, begin));
    after.addAll(lines.subList(end + 1, lines.size()));
    return new SlurmConf(after);
  }
}

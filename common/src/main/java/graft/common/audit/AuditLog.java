package graft.common.audit;

import graft.common.json.Json;
import graft.common.program.CurrentUser;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Clock;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;

/**
 * Writes audit events, one JSON object a line: {@code at} (the time in UTC), {@code event}, {@code
 * who} (a guest, or a user of this host), {@code from} (an address, or {@code local}), and what
 * else the event has. Texts can come from guests: they are escaped, and cut to {@link #LONGEST}
 * characters. No event has a secret. An event that cannot be written does not stop what it reports;
 * the first failure is reported instead. Thread-safe.
 */
public final class AuditLog implements AutoCloseable {
  /** The longest text of a field; longer ones are cut. */
  public static final int LONGEST = 256;

  /** The file's name in the state folder. */
  public static final String NAME = "audit.jsonl";

  /** The word that stands for syslog where a file could be named. */
  public static final String SYSLOG = "syslog";

  /** The word that stands for no log where a file could be named. */
  public static final String OFF = "off";

  private static final long LARGEST = 10 << 20;
  private static final int KEPT = 5;

  /** Where lines go. */
  private interface Sink {
    void write(byte[] line) throws IOException;

    default void close() {}
  }

  private final Sink sink;
  private final String where;
  private final Clock clock;
  private final Consumer<String> trouble;
  private boolean failed;

  private AuditLog(Sink sink, String where, Clock clock, Consumer<String> trouble) {
    this.sink = sink;
    this.where = where;
    this.clock = clock;
    this.trouble = trouble;
  }

  /** Returns a log that drops all events. */
  public static AuditLog none() {
    return new AuditLog(line -> {}, OFF, Clock.systemUTC(), message -> {});
  }

  /** Returns the file of this user's audit trail, in the state folder. */
  public static Path defaultFile(Map<String, String> environment) {
    return CurrentUser.stateFolder(environment).resolve(NAME);
  }

  /**
   * Opens a log.
   *
   * @param where a file, {@link #SYSLOG} or {@link #OFF}
   * @param trouble told once if events cannot be written
   * @throws IOException if the log cannot be written
   */
  public static AuditLog open(String where, Consumer<String> trouble) throws IOException {
    return switch (where) {
      case OFF -> none();
      case SYSLOG -> new AuditLog(new Syslog(), where, Clock.systemUTC(), trouble);
      default -> file(Path.of(where), Clock.systemUTC(), trouble);
    };
  }

  static AuditLog file(Path file, Clock clock, Consumer<String> trouble) throws IOException {
    Path folder = file.toAbsolutePath().getParent();
    Files.createDirectories(
        folder, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
    RotatedFile rotated = new RotatedFile(file, LARGEST, KEPT);
    rotated.append(new byte[0], 0, 0);
    return new AuditLog(
        line -> rotated.append(line, 0, line.length), file.toString(), clock, trouble);
  }

  /** Returns where the events go. */
  public String where() {
    return where;
  }

  /**
   * Writes an event.
   *
   * @param event what happened, in the words of docs/security.md
   * @param who a guest's name or a user's
   * @param from an address, or {@code local}
   * @param details further fields: texts, numbers and truth values
   */
  public void write(String event, String who, String from, Map<String, ?> details) {
    Map<String, Object> line = new LinkedHashMap<>();
    line.put("at", clock.instant().truncatedTo(ChronoUnit.MILLIS).toString());
    line.put("event", event);
    line.put("who", cut(who));
    line.put("from", cut(from));
    details.forEach((key, value) -> line.put(key, plain(value)));
    byte[] bytes = (Json.line(line) + "\n").getBytes(StandardCharsets.UTF_8);
    try {
      sink.write(bytes);
    } catch (IOException e) {
      report(e);
    }
  }

  private synchronized void report(IOException e) {
    if (!failed) {
      failed = true;
      String why = Objects.requireNonNullElse(e.getMessage(), e.toString());
      trouble.accept("audit events cannot be written to " + where + ": " + why);
    }
  }

  private static Object plain(Object value) {
    if (value instanceof List<?> list) {
      return list.stream().limit(64).map(AuditLog::plain).toList();
    }
    return value instanceof Number || value instanceof Boolean ? value : cut(String.valueOf(value));
  }

  private static String cut(String text) {
    return text.length() <= LONGEST ? text : text.substring(0, LONGEST) + "...";
  }

  @Override
  public void close() {
    sink.close();
  }

  /**
   * Passes lines to the system's log by the program logger, which all systems with a syslog have.
   */
  private static final class Syslog implements Sink {
    private final Process logger;

    Syslog() throws IOException {
      try {
        logger =
            new ProcessBuilder("logger", "-t", "graft-audit", "-p", "auth.info")
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
      } catch (IOException e) {
        throw new IOException(
            "the audit log cannot go to syslog: the program logger does not start ("
                + e.getMessage()
                + "); install bsdutils or util-linux, or name a file",
            e);
      }
    }

    @Override
    public synchronized void write(byte[] line) throws IOException {
      OutputStream out = logger.getOutputStream();
      out.write(line);
      out.flush();
    }

    @Override
    public void close() {
      try {
        logger.getOutputStream().close();
      } catch (IOException e) {
        logger.destroy();
      }
    }
  }
}

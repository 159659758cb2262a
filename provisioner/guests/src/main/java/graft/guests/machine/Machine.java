package graft.guests.machine;

import graft.common.GraftException;
import graft.guests.connection.Ended;
import graft.guests.connection.GuestConnection;
import graft.guests.connection.GuestConnectionException;
import graft.hypervisors.libvirt.calls.GuestText;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * A machine that Graft did not make. Before Graft writes files there, the machine keeps a copy of
 * what lies in their places, in {@code /var/lib/graft/.existing}, and gets all of it back when the
 * deployment is undone.
 */
public final class Machine {
  private static final Duration PROBE = Duration.ofSeconds(30);
  private static final Duration CHANGE = Duration.ofMinutes(5);
  private static final int SAID = 1000;
  private static final String FAILED = "failed: ";

  private final GuestConnection connection;
  private final String who;

  /**
   * A machine.
   *
   * @param who its name for messages: {@code root@192.0.2.7}
   */
  public Machine(GuestConnection connection, String who) {
    this.connection = connection;
    this.who = who;
  }

  /**
   * Looks at the machine, and changes nothing.
   *
   * @param paths where files would be written
   * @throws GuestConnectionException if it cannot be reached, or its user cannot become root
   */
  public MachineReport probe(List<String> paths) {
    Ended ended = run("probe", paths, PROBE);
    return MachineReport.read(ended.outputText(), paths)
        .filter(report -> ended.succeeded())
        .orElseThrow(
            () ->
                ended.said().contains("sudo")
                    ? new GuestConnectionException(
                        who + " can log in and not become root: " + said(ended),
                        "let it use sudo without a password, or log in as root",
                        false,
                        null)
                    : new GuestConnectionException(
                        who
                            + " can log in, and the script that looks at the machine did not run to"
                            + " its end: "
                            + said(ended),
                        "is it a Linux machine with a shell at /bin/sh?",
                        false,
                        null));
  }

  /**
   * Lets the machine note what lies at these paths, unless it has noted that already, and gives
   * back what was noted for other paths.
   *
   * @param owner whose files will be written; a machine serves one owner at a time
   */
  public void keep(String owner, List<String> paths) {
    change("keep", Stream.concat(Stream.of(owner), paths.stream()).toList());
  }

  /** Lets the machine note how it is after everything was written. */
  public void settle(String owner) {
    change("settle", List.of(owner));
  }

  /**
   * Gives everything back. A machine that has nothing of Graft's stays as it is.
   *
   * @return what stays, and why, each in words
   */
  public List<String> undo(String owner) {
    return change("undo", List.of(owner))
        .lines()
        .filter(line -> line.startsWith("left "))
        .limit(20)
        .map(line -> GuestText.line(line, SAID))
        .toList();
  }

  private String change(String what, List<String> arguments) {
    Ended ended = run(what, arguments, CHANGE);
    String output = ended.outputText();
    if (ended.succeeded() && output.strip().endsWith("done")) {
      return output;
    }
    String why =
        output
            .lines()
            .filter(line -> line.startsWith(FAILED))
            .findFirst()
            .map(line -> GuestText.line(line.substring(FAILED.length()), SAID))
            .orElseGet(() -> said(ended));
    throw new GraftException(
        who + ": cannot " + words(what) + ": " + why,
        why.contains("No space left")
            ? "free space on its disk, then try again"
            : "fix what the message names on the machine, then try again");
  }

  private static String words(String what) {
    return what.equals("undo") ? "give back what the machine had" : "note what the machine has";
  }

  private Ended run(String what, List<String> arguments, Duration limit) {
    List<String> words = new ArrayList<>(List.of("/bin/sh", "-s", what));
    words.addAll(arguments);
    return connection.run(words, script(), limit);
  }

  private static String said(Ended ended) {
    String said = GuestText.line(ended.said(), SAID);
    return said.isEmpty() ? "it ended with " + ended.code() + " and said nothing" : said;
  }

  private static byte[] script() {
    try (InputStream in = Machine.class.getResourceAsStream("machine.sh")) {
      return in.readAllBytes();
    } catch (IOException e) {
      throw new UncheckedIOException("reading a resource of our own", e);
    }
  }
}

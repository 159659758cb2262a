package graft.deployment.hosts;

import graft.common.GraftException;
import graft.common.values.MemorySize;
import graft.common.values.Name;
import graft.guests.connection.GuestConnectionException;
import graft.guests.connection.SshConnection;
import graft.guests.connection.SshLogin;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Runs Graft on a host by the system's ssh. A host that lacks this Graft gets it first, into a
 * folder of its own beside those of other versions.
 */
public final class SshLink implements HostLink {
  /** The longest answer of a host, in bytes. */
  static final int MOST_BYTES = 64 << 20;

  /** An apply waits for guests that boot, each with a time limit of its own. */
  private static final Duration LIMIT = Duration.ofHours(12);

  private static final Duration BRINGING = Duration.ofMinutes(30);

  /** The exit code of {@link #RUN} for a host without this Graft; no command of Graft ends so. */
  private static final int MISSING = 81;

  private static final String RUN =
      "[ -x \"$1/bin/graft\" ] || exit 81; exec \"$1/bin/graft\" on-host";

  /**
   * The programs appear whole or not at all, also if two operators bring them, the disk is full or
   * the power is cut. The script removes folders that were left unfinished more than an hour ago,
   * and prints how much space is free.
   */
  private static final String BRING =
      """
      set -eu
      umask 022
      new=
      trap '[ -z "$new" ] || rm -rf -- "$new"; df -Pk -- "$1" 2>/dev/null || :' EXIT
      mkdir -p -- "$1"
      find "$1" -maxdepth 1 -name '.new.*' -cmin +60 -exec rm -rf -- {} + || :
      new=$(mktemp -d -- "$1/.new.XXXXXX")
      tar -xz --no-same-owner -C "$new"
      chmod 755 "$new"
      sync -f -- "$new"
      mv -T -- "$new" "$1/$2" || [ -x "$1/$2/bin/graft" ]""";

  private static final Pattern FULL = Pattern.compile("No space left|Disk quota exceeded");

  /** The last line of df -Pk: the third number is what is available. */
  private static final Pattern FREE =
      Pattern.compile("(?m)^.*\\s\\d+\\s+\\d+\\s+(\\d{1,15})\\s+\\d+%\\s.*$");

  private final Name host;
  private final SshLogin login;
  private final String folder;
  private final HostBundle bundle;
  private final String version;
  private final Clock clock = Clock.systemUTC();

  /**
   * The way to a host.
   *
   * @param folder on the host, for the programs
   * @param version that the host's Graft has to say that it is
   */
  public SshLink(Name host, SshLogin login, String folder, HostBundle bundle, String version) {
    this.host = host;
    this.login = login;
    this.folder = folder;
    this.bundle = bundle;
    this.version = version;
  }

  @Override
  public HostReply ask(HostRequest request, Consumer<String> progress) {
    try {
      Ended ended = run(request, progress);
      if (ended.code == MISSING && ended.output.size() == 0) {
        bring(progress);
        ended = run(request, progress);
      }
      return reply(ended);
    } catch (RefusedException e) {
      return HostReply.refused(host, e.getMessage());
    } catch (IOException e) {
      return HostReply.unreachable(host, "its answer cannot be read: " + e.getMessage());
    } catch (GraftException e) {
      return HostReply.unreachable(host, e.getMessage());
    }
  }

  /** The host let nobody in, or could not get Graft: it is as it was. */
  private static final class RefusedException extends GraftException {
    private static final long serialVersionUID = 1;

    RefusedException(String what, String next, Throwable cause) {
      super(what, next, cause);
    }

    RefusedException(String message, GuestConnectionException cause) {
      super(message, "", cause);
    }
  }

  private record Ended(int code, ReplyOutput output, String said) {}

  private Ended run(HostRequest request, Consumer<String> progress) throws IOException {
    byte[] input = (request.toJson() + "\n").getBytes(StandardCharsets.UTF_8);
    String program = folder + "/" + bundle.name();
    return run(RUN, List.of(program), new ByteArrayInputStream(input), LIMIT, progress);
  }

  private Ended run(
      String script,
      List<String> arguments,
      InputStream input,
      Duration limit,
      Consumer<String> progress)
      throws IOException {
    List<String> words = new ArrayList<>(List.of("/bin/sh", "-c", script, "sh"));
    words.addAll(arguments);
    ReplyOutput output = new ReplyOutput(MOST_BYTES, clock);
    LineOutput errors = new LineOutput(progress);
    try {
      int code =
          SshConnection.toKnown(login)
              .start(words, Optional.of(input))
              .await(output, errors, limit);
      return new Ended(code, output, errors.last());
    } catch (GuestConnectionException e) {
      if (!e.unresponsive()) {
        throw new RefusedException(e.getMessage(), e);
      } else if (output.size() == 0) {
        throw e;
      }
      // What the exception calls ssh's message is all that the host has said while it worked.
      throw new GraftException(
          "the connection was lost while its Graft worked, after '" + errors.last() + "'",
          "graft status says what the host has; the same command goes on",
          e);
    }
  }

  private void bring(Consumer<String> progress) throws IOException {
    progress.accept("bring Graft " + bundle.name() + " to " + folder);
    AtomicBoolean full = new AtomicBoolean();
    Ended ended;
    try (InputStream archive = bundle.open()) {
      Consumer<String> said = line -> full.compareAndSet(false, FULL.matcher(line).find());
      ended = run(BRING, List.of(folder, bundle.name()), archive, BRINGING, said);
    }
    if (ended.code == 0) {
      return;
    }
    refuseSudo(ended);
    if (full.get()) {
      throw new RefusedException(
          "the disk of "
              + folder
              + " is full: Graft needs "
              + bundle.unpacked().rounded()
              + free(ended),
          "free space there, or write another 'folder' for the host",
          null);
    }
    throw new RefusedException(
        "Graft could not be brought to " + folder + ": " + ended.said,
        "can " + login.user() + " write there, and has the host tar and gzip?",
        null);
  }

  private static String free(Ended ended) {
    Matcher matcher = FREE.matcher(ended.output.toString(StandardCharsets.UTF_8));
    return matcher.find()
        ? ", and " + MemorySize.ofKib(Long.parseLong(matcher.group(1))).rounded() + " are free"
        : "";
  }

  private void refuseSudo(Ended ended) {
    if (!login.user().isRoot() && ended.output.size() == 0 && ended.said.startsWith("sudo: ")) {
      throw new RefusedException(
          login.user() + " can log in and not become root: " + ended.said,
          "let it use sudo without a password, or log in as root",
          null);
    }
  }

  private HostReply reply(Ended ended) throws IOException {
    refuseSudo(ended);
    if (ended.output.isTruncated()) {
      return HostReply.unreachable(host, "its Graft printed more than 64MiB");
    }
    String printed = ended.output.toString(StandardCharsets.UTF_8);
    int end = printed.indexOf('\n');
    if (end < 0) {
      return HostReply.unreachable(
          host,
          "its Graft could not be run in "
              + folder
              + ": "
              + (ended.said.isEmpty() ? "exit code " + ended.code : ended.said));
    }
    HostGreeting greeting = HostGreeting.parse(printed.substring(0, end));
    if (!greeting.version().equals(version)) {
      return HostReply.unreachable(
          host,
          "the Graft in "
              + folder
              + "/"
              + bundle.name()
              + " says that it is '"
              + greeting.version()
              + "', and this one is '"
              + version
              + "' (delete that folder on the host; this Graft is then brought there)");
    }
    Instant arrived = ended.output.first();
    Duration ahead = Duration.between(arrived, Instant.ofEpochMilli(greeting.millis()));
    return HostReply.of(host, ended.code, printed.substring(end), ended.said, ahead);
  }
}

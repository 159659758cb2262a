package graft.remoting.server.accept;

import graft.common.grants.TokenLines;
import graft.common.grants.TokensFile;
import graft.remoting.server.pool.WorkerPool;
import graft.remoting.server.share.GpuShares;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.attribute.BasicFileAttributes;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.OptionalLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Ends the sessions of a name as soon as the name is removed from the tokens file or its line
 * expires, and the sessions of a name's earlier tokens as soon as its line says so, and applies the
 * shares of the file. A line that is wrong is reported once for each change of the file; it ends no
 * session, since it may be a slip. If the file cannot be read, no session ends, and the watch reads
 * the file again later.
 */
public final class RevocationWatch implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(RevocationWatch.class);
  private static final int PAUSE_MILLIS = 200;

  /**
   * The check is repeated after a change, because a client may have authenticated against the old
   * file and get its session only after the change.
   */
  private static final int TURNS_AFTER_CHANGE = 100;

  private final TokensFile tokens;
  private final WorkerPool pool;
  private final GpuShares shares;
  private List<String> reported = List.of();
  private List<Object> seen = List.of();
  private OptionalLong nextExpiry = OptionalLong.empty();
  private int turns;
  private final Thread thread = new Thread(null, this::run, "graft-revocation", 128 * 1024);

  private RevocationWatch(TokensFile tokens, WorkerPool pool, GpuShares shares) {
    this.shares = shares;
    this.tokens = tokens;
    this.pool = pool;
  }

  /** Starts the watch, and reports what is wrong in the file before it returns. */
  public static RevocationWatch start(TokensFile tokens, WorkerPool pool, GpuShares shares) {
    RevocationWatch watch = new RevocationWatch(tokens, pool, shares);
    watch.turn();
    watch.thread.setDaemon(true);
    watch.thread.start();
    return watch;
  }

  private void run() {
    try {
      while (true) {
        Thread.sleep(PAUSE_MILLIS);
        turn();
      }
    } catch (InterruptedException e) {
      LOG.debug("stopped watching {}", tokens.path());
    }
  }

  private void turn() {
    List<Object> now = stamp();
    boolean isChanged = !now.equals(seen);
    boolean isExpired =
        nextExpiry.isPresent() && Instant.now().getEpochSecond() >= nextExpiry.getAsLong();
    seen = now;
    turns = isChanged || isExpired ? TURNS_AFTER_CHANGE : turns - 1;
    if (turns > 0) {
      report(isChanged, endRevoked());
    }
  }

  /** Logs what is wrong in the file, once for each change of the file or of what is wrong. */
  private void report(boolean isChanged, List<String> wrong) {
    if (isChanged || !wrong.equals(reported)) {
      wrong.forEach(LOG::warn);
    }
    reported = wrong;
  }

  /**
   * Returns the attributes that differ between two versions of the file, which is always replaced
   * as a whole.
   */
  private List<Object> stamp() {
    try {
      BasicFileAttributes file = Files.readAttributes(tokens.path(), BasicFileAttributes.class);
      return List.of(file.lastModifiedTime(), file.size(), String.valueOf(file.fileKey()));
    } catch (IOException e) {
      return List.of();
    }
  }

  /** Applies the file to the sessions, and returns what is wrong in it. */
  private List<String> endRevoked() {
    try {
      Instant now = Instant.now();
      TokenLines all = tokens.readLines();
      TokenLines lines = all.at(now);
      nextExpiry = lines.nextExpiry();
      shares.change(lines.grants());
      pool.end(
          session -> all.names(session.name()) && !lines.names(session.name()),
          "its token has expired");
      pool.end(session -> !lines.names(session.name()), "its token was revoked");
      pool.end(
          session -> lines.endsOthers(session.name(), session.token()),
          "its token was replaced, and its sessions were to end");
      pool.keepContentsOf(lines::names);
      return all.wrong().stream().map(this::describe).toList();
    } catch (IOException e) {
      return List.of(Objects.requireNonNullElse(e.getMessage(), e.toString()));
    }
  }

  private String describe(TokenLines.WrongLine line) {
    String who = line.name().isEmpty() ? "a guest without a name" : line.name();
    return tokens.describe(line) + " (" + who + " gets no session by this line)";
  }

  @Override
  public void close() {
    thread.interrupt();
  }
}

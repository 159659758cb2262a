package graft.remoting.server.accept;

import graft.common.grants.Grant;
import graft.common.grants.TokensFile;
import graft.remoting.server.pool.ServedSession;
import graft.remoting.server.pool.WorkerPool;
import graft.remoting.server.share.GpuShares;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.List;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Ends the sessions of a name as soon as the name is removed from the tokens file, and the sessions
 * of a name's earlier tokens as soon as its line says so, and applies the shares of the file. If
 * the file cannot be read, no session ends, and the watch reads the file again later.
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
  private final Thread thread = new Thread(null, this::run, "graft-revocation", 128 * 1024);

  private RevocationWatch(TokensFile tokens, WorkerPool pool, GpuShares shares) {
    this.shares = shares;
    this.tokens = tokens;
    this.pool = pool;
  }

  /** Starts the watch. */
  public static RevocationWatch start(TokensFile tokens, WorkerPool pool, GpuShares shares) {
    RevocationWatch watch = new RevocationWatch(tokens, pool, shares);
    watch.thread.setDaemon(true);
    watch.thread.start();
    return watch;
  }

  private void run() {
    List<Object> seen = stamp();
    int turns = 0;
    try {
      while (true) {
        Thread.sleep(PAUSE_MILLIS);
        List<Object> now = stamp();
        turns = now.equals(seen) ? turns - 1 : TURNS_AFTER_CHANGE;
        if (turns > 0) {
          endRevoked();
        }
        seen = now;
      }
    } catch (InterruptedException e) {
      LOG.debug("stopped watching {}", tokens.path());
    }
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

  private void endRevoked() {
    try {
      Map<String, Grant> grants = tokens.read();
      shares.change(grants);
      pool.end(session -> !grants.containsKey(session.name()), "its token was revoked");
      pool.end(
          session -> isReplaced(grants.get(session.name()), session),
          "its token was replaced, and its sessions were to end");
    } catch (IOException e) {
      LOG.warn("{}", e.getMessage());
    }
  }

  /** Returns whether the session's token was replaced by one that ends the others' sessions. */
  private static boolean isReplaced(Grant grant, ServedSession session) {
    return grant != null && grant.endsOthers() && !grant.fingerprint().equals(session.token());
  }

  @Override
  public void close() {
    thread.interrupt();
  }
}

package graft.remoting.server.pool;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The log's lines about sessions, by a logger of their own, so that they can be on by default. */
public final class SessionLog {
  /** The logger's name. */
  public static final String LOGGER = "graft.sessions";

  private static final Logger LOG = LoggerFactory.getLogger(LOGGER);

  private SessionLog() {}

  /** A session has begun. */
  public static void started(ServedSession session) {
    LOG.info("{}", session.startLine());
  }

  /** A session has ended. That of a worker that crashed is in each log. */
  static void ended(ServedSession session, int exitStatus) {
    if (session.hasFailed()) {
      LOG.error("{}", session.endLine(exitStatus));
    } else {
      LOG.info("{}", session.endLine(exitStatus));
    }
  }
}

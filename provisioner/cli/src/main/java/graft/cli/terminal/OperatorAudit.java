package graft.cli.terminal;

import graft.common.audit.AuditLog;
import graft.deployment.step.Step;
import graft.deployment.step.guest.MakeToken;
import java.io.IOException;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.Map;

/** Writes what an operator did to the audit trail. */
public final class OperatorAudit {
  /** The environment variable that names another place than the file in the state folder. */
  public static final String VARIABLE = "GRAFT_AUDIT";

  private OperatorAudit() {}

  /** Returns where this user's audit events go: a file, {@code syslog} or {@code off}. */
  public static String where() {
    String given = System.getenv().getOrDefault(VARIABLE, "");
    return given.isEmpty() ? AuditLog.defaultFile(System.getenv()).toString() : given;
  }

  /**
   * Writes an event. A log that cannot be written is reported, and does not stop the command.
   *
   * @param err where warnings go
   */
  public static void write(PrintWriter err, String event, Map<String, ?> details) {
    try (AuditLog log = AuditLog.open(where(), message -> warn(err, message))) {
      log.write(event, user(), from(), details);
    } catch (IOException e) {
      warn(err, "audit events cannot be written to " + where() + ": " + e.getMessage());
    }
  }

  private static void warn(PrintWriter err, String message) {
    err.println("warning: " + message);
    err.flush();
  }

  /** The user, and in brackets the one who became root by sudo. */
  private static String user() {
    String user = System.getProperty("user.name");
    String before = System.getenv().getOrDefault("SUDO_USER", "");
    return before.isEmpty() ? user : user + " (" + before + ")";
  }

  /** The address that sshd reports, if the command runs in a session of SSH. */
  private static String from() {
    String ssh = System.getenv().getOrDefault("SSH_CONNECTION", "");
    return ssh.isEmpty() ? "local" : "ssh " + ssh.split(" ", 2)[0];
  }

  /** Progress that also writes an event for each token that is made. */
  public static TextProgress progress(PrintWriter err, String deployment) {
    return new TextProgress(err) {
      @Override
      public void done(Step step, Duration took) {
        super.done(step, took);
        if (step instanceof MakeToken made) {
          write(err, "token-made", Map.of("deployment", deployment, "guest", made.guest()));
        }
      }
    };
  }
}

package graft.deployment.descriptor.gpu;

/** Where a server's audit events go. */
public enum AuditTarget {
  /** To the audit trail of the user that the server runs as, or to syslog if it has none. */
  AUTO,
  /** To a file of rotated size. */
  FILE,
  /** To the system's log. */
  SYSLOG,
  /** Nowhere. */
  OFF
}

package graft.remoting.server.pool;

import graft.remoting.server.control.ControlMessage;
import graft.remoting.server.control.DeviceSpec;
import graft.remoting.server.exchange.LeasePage;
import graft.remoting.server.exchange.Limit;
import graft.remoting.server.system.Bytes;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** What the server knows of a session that a worker serves. */
public final class ServedSession {
  /** The exit status of a Java runtime that runs with -XX:+ExitOnOutOfMemoryError. */
  private static final int OUT_OF_JAVA_MEMORY = 3;

  private final long id;
  private final Bytes secret;
  private final String name;
  private final String peer;
  private final DeviceSpec device;
  private final String token;
  private final Set<Limit> reached = ConcurrentHashMap.newKeySet();
  private final long started = System.nanoTime();
  private volatile ControlMessage.Used used = new ControlMessage.Used(0, 0, 0, 0);
  private volatile String ending;
  private volatile Runnable atEnd = () -> {};
  private volatile Runnable onAsk = () -> {};
  private final LeasePage lease;

  /**
   * What the server knows of a session.
   *
   * @param secret what a further connection of the session must prove to know
   * @param token identifies the token that the session was opened with, see {@link
   *     graft.common.grants.Grant#fingerprint}
   * @param lease by which the session gets its GPU
   */
  public ServedSession(
      long id,
      Bytes secret,
      String name,
      String peer,
      DeviceSpec device,
      String token,
      LeasePage lease) {
    this.id = id;
    this.secret = secret;
    this.name = name;
    this.peer = peer;
    this.device = device;
    this.token = token;
    this.lease = lease;
  }

  /**
   * Returns the session's lease, which tells how long it has used its GPU and has waited for it.
   */
  LeasePage lease() {
    return lease;
  }

  /** Sets what to do when the session asks for its lease. */
  public void onAsk(Runnable action) {
    onAsk = action;
  }

  void asksForLease() {
    onAsk.run();
  }

  /** Returns what identifies the token that the session was opened with. */
  public String token() {
    return token;
  }

  /** Returns the address of the client. */
  public String peer() {
    return peer;
  }

  /** Returns the device. */
  public DeviceSpec device() {
    return device;
  }

  /**
   * Notes what to do when the worker has ended.
   *
   * @param action releases what was reserved for the session
   */
  public void onEnd(Runnable action) {
    atEnd = action;
  }

  /** Releases what was reserved for the session. */
  void release() {
    atEnd.run();
  }

  /** Notes that a limit has refused something; returns whether this is the first time. */
  boolean reached(Limit limit) {
    return reached.add(limit);
  }

  /** Returns the seconds since the session began. */
  public double seconds() {
    return (System.nanoTime() - started) / 1e9;
  }

  /** Returns why the session has ended. */
  String reason(int exitStatus) {
    if (ending != null) {
      return ending;
    }
    return exitStatus == OUT_OF_JAVA_MEMORY
        ? "the session needed more memory of its worker's Java runtime than it may have"
        : "the worker died with status " + exitStatus;
  }

  long id() {
    return id;
  }

  /** Returns the secret that a further connection of this session must prove to know. */
  Bytes secret() {
    return secret;
  }

  public String name() {
    return name;
  }

  ControlMessage.Used used() {
    return used;
  }

  void used(ControlMessage.Used value) {
    used = value;
  }

  /** Notes why the session ends, as the worker reported it. */
  void ending(String reason) {
    ending = reason;
  }

  public String startLine() {
    return "session start: name=" + name + " peer=" + peer + " device=" + device;
  }

  /** Returns the line that the log gets at the end of the session. */
  String endLine(int exitStatus) {
    return String.format(
        Locale.ROOT,
        "session end: name=%s peer=%s device=%s seconds=%.1f bytesIn=%d bytesOut=%d calls=%d (%s)",
        name,
        peer,
        device,
        seconds(),
        used.bytesIn(),
        used.bytesOut(),
        used.calls(),
        reason(exitStatus));
  }
}

package graft.remoting.server.pool;

import graft.remoting.server.control.ControlMessage;
import graft.remoting.server.control.DeviceSpec;
import graft.remoting.server.exchange.GuestProgram;
import graft.remoting.server.exchange.LeasePage;
import graft.remoting.server.exchange.Limit;
import graft.remoting.server.exchange.SessionLimits;
import graft.remoting.server.system.Bytes;
import java.time.Instant;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

/** What the server knows of a session that a worker serves. */
public final class ServedSession {
  /** The exit status of a Java runtime that runs with -XX:+ExitOnOutOfMemoryError. */
  private static final int OUT_OF_JAVA_MEMORY = 3;

  private final long id;
  private final Bytes secret;
  private final Client client;
  private final DeviceSpec device;
  private final Set<Limit> reached = ConcurrentHashMap.newKeySet();
  private final long started = System.nanoTime();
  private final Instant since = Instant.now();
  private volatile ControlMessage.Used used = ControlMessage.Used.NOTHING;
  private volatile String endsBecause;
  private volatile String ending;
  private volatile String uuid = "";
  private volatile Optional<GuestProgram> program = Optional.empty();
  private volatile Runnable atEnd = () -> {};
  private volatile Runnable onAsk = () -> {};
  private volatile Consumer<ControlMessage.OpenPeer> onOpenPeer = request -> {};
  private final LeasePage lease;

  /**
   * Who the session serves, and what it may use.
   *
   * @param name the name that the client authenticated by
   * @param peer the address of the client
   * @param channel what carries the session's calls, in the words of docs/glossary.md
   * @param token identifies the token that the session was opened with, see {@link
   *     graft.common.grants.Grant#fingerprint}
   * @param limits the limits of the session and of its guest
   */
  public record Client(
      String name, String peer, String channel, String token, SessionLimits limits) {}

  /**
   * What the server knows of a session.
   *
   * @param secret what a further connection of the session must prove to know
   * @param lease by which the session gets its GPU
   */
  public ServedSession(long id, Bytes secret, Client client, DeviceSpec device, LeasePage lease) {
    this.id = id;
    this.secret = secret;
    this.client = client;
    this.device = device;
    this.lease = lease;
  }

  /**
   * Returns the session's lease, which tells how long it has used its GPU and has waited for it.
   */
  public LeasePage lease() {
    return lease;
  }

  /** Sets what to do when the session asks for its lease. */
  public void onAsk(Runnable action) {
    onAsk = action;
  }

  void asksForLease() {
    onAsk.run();
  }

  /** Sets what to do when the session asks for a link to another server. */
  public void onOpenPeer(Consumer<ControlMessage.OpenPeer> action) {
    onOpenPeer = action;
  }

  void opensPeer(ControlMessage.OpenPeer request) {
    onOpenPeer.accept(request);
  }

  /** Returns what identifies the token that the session was opened with. */
  public String token() {
    return client.token();
  }

  /** Returns the address of the client. */
  public String peer() {
    return client.peer();
  }

  /** Returns who the session serves, and what it may use. */
  public Client client() {
    return client;
  }

  /** Returns when the session began. */
  public Instant since() {
    return since;
  }

  /** Returns the program that the session serves, as its guest says; empty before it says so. */
  public Optional<GuestProgram> program() {
    return program;
  }

  /** Notes which program the guest says that the session serves; only the first claim counts. */
  void program(GuestProgram claimed) {
    if (program.isEmpty()) {
      program = Optional.of(claimed);
    }
  }

  /** Returns the device. */
  public DeviceSpec device() {
    return device;
  }

  /** Returns the session's GPU as NVML names it; empty if it has several, or none yet. */
  public String uuid() {
    return uuid;
  }

  /** Notes the GPU of the worker that will serve the session. */
  public void uuid(String value) {
    uuid = value;
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

  /** Returns whether the worker has ended without a reason, such as by a crash. */
  boolean hasFailed() {
    return endsBecause == null && ending == null;
  }

  /** Returns why the session has ended. */
  String reason(int exitStatus) {
    if (endsBecause != null) {
      return endsBecause;
    }
    if (ending != null) {
      return ending;
    }
    return exitStatus == OUT_OF_JAVA_MEMORY
        ? "the session needed more memory of its worker's Java runtime than it may have"
        : "the worker died with status " + exitStatus;
  }

  public long id() {
    return id;
  }

  /** Returns the session's id as operators see it and name it: hexadecimal digits. */
  public String number() {
    return Long.toHexString(id);
  }

  /** Returns the secret that a further connection of this session must prove to know. */
  Bytes secret() {
    return secret;
  }

  public String name() {
    return client.name();
  }

  public ControlMessage.Used used() {
    return used;
  }

  void used(ControlMessage.Used value) {
    used = value;
  }

  /** Notes why the server ends the session, which counts more than what the worker reports. */
  void endsBecause(String reason) {
    endsBecause = reason;
  }

  /** Notes why the session ends, as the worker reported it. */
  void ending(String reason) {
    ending = reason;
  }

  String startLine() {
    return "session start: name=" + name() + " peer=" + peer() + " device=" + device;
  }

  /** Returns the line that the log gets at the end of the session. */
  String endLine(int exitStatus) {
    return String.format(
        Locale.ROOT,
        "session end: name=%s peer=%s device=%s seconds=%.1f bytesIn=%d bytesOut=%d calls=%d (%s)",
        name(),
        peer(),
        device,
        seconds(),
        used.bytesIn(),
        used.bytesOut(),
        used.calls(),
        reason(exitStatus));
  }
}

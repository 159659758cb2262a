package graft.remoting.server.pool;

import graft.remoting.server.control.ControlMessage;
import graft.remoting.server.control.DeviceSpec;
import graft.remoting.server.system.Bytes;
import java.util.Locale;

/** What the server knows of a session that a worker serves. */
public final class ServedSession {
  private final long id;
  private final Bytes secret;
  private final String name;
  private final String peer;
  private final DeviceSpec device;
  private final long started = System.nanoTime();
  private volatile ControlMessage.Used used = new ControlMessage.Used(0, 0, 0, 0);
  private volatile String ending;

  public ServedSession(long id, Bytes secret, String name, String peer, DeviceSpec device) {
    this.id = id;
    this.secret = secret;
    this.name = name;
    this.peer = peer;
    this.device = device;
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
    String reason = ending != null ? ending : "the worker died with status " + exitStatus;
    return String.format(
        Locale.ROOT,
        "session end: name=%s peer=%s device=%s seconds=%.1f bytesIn=%d bytesOut=%d calls=%d (%s)",
        name,
        peer,
        device,
        (System.nanoTime() - started) / 1e9,
        used.bytesIn(),
        used.bytesOut(),
        used.calls(),
        reason);
  }
}

package graft.remoting.server.control;

import graft.remoting.server.accept.GuestMemory;
import graft.remoting.server.system.Bytes;
import java.io.IOException;

/** What the server and a worker say to each other over their private socket, one packet each. */
public sealed interface ControlMessage {
  /** The longest packet. */
  int MAX = 16 << 10;

  /** From a worker: its device is open, it can take a session. */
  record Ready(String device) implements ControlMessage {}

  /** From a worker: it cannot work, and why. It exits. */
  record Failed(String reason) implements ControlMessage {}

  /** From a worker: what its session has used so far. */
  record Used(long bytesIn, long bytesOut, long calls, long memory) implements ControlMessage {}

  /** From a worker: its session is over. It exits. */
  record Ended(String reason) implements ControlMessage {}

  /**
   * To a worker, with the client's descriptor and those of the memory that its guest shares: serve
   * this client, beginning with the WELCOME.
   *
   * @param memoryLimit bytes of device memory, 0 for no limit
   * @param channel the HELLO's word for what carries the records
   * @param shared what has to be known of memory that is shared, see {@link GuestMemory}
   * @param problem why there is no such memory, empty if there is
   */
  record StartSession(
      long id,
      String name,
      long memoryLimit,
      int channel,
      Bytes shared,
      String problem,
      Bytes welcome)
      implements ControlMessage {}

  /** To a worker, with a descriptor: one more connection of its session. */
  record AddConnection(int purpose, Bytes welcome) implements ControlMessage {}

  /** From a worker: what its session shares, with the descriptor of physical memory. */
  record Give(Bytes token, Bytes handle) implements ControlMessage {}

  /** From a worker: is there a handle of this token? */
  record Find(Bytes token) implements ControlMessage {}

  /**
   * To a worker, the answer to either: the handle, and its descriptor if a found one has one; empty
   * when there is none or no place for it.
   */
  record Shared(Bytes handle) implements ControlMessage {}

  /** From a worker: what code is kept for its session's name? */
  record KnownCode() implements ControlMessage {}

  /** From a worker, with a descriptor: code to keep. */
  record KeepCode(Bytes hash) implements ControlMessage {}

  /** From a worker: the descriptor of that code. */
  record FindCode(Bytes hash) implements ControlMessage {}

  /** The packet. */
  default byte[] encode() {
    return ControlCodec.encode(this);
  }

  /** Reads a packet. */
  static ControlMessage decode(byte[] packet) throws IOException {
    return ControlCodec.decode(packet);
  }
}

package graft.remoting.server.control;

import graft.remoting.server.accept.GuestMemory;
import graft.remoting.server.exchange.ContentExchange;
import graft.remoting.server.exchange.GuestProgram;
import graft.remoting.server.exchange.Limit;
import graft.remoting.server.exchange.PeerTicket;
import graft.remoting.server.exchange.SessionLimits;
import graft.remoting.server.system.Bytes;
import java.io.IOException;
import java.util.regex.Pattern;

/** The messages between the server and a worker on their private socket, one packet each. */
public sealed interface ControlMessage {
  /** The longest packet. */
  int MAX = 16 << 10;

  /**
   * From a worker: its device is open, and it can serve a session.
   *
   * @param device a description for the log
   * @param uuid the GPU as NVML names it; empty if the worker sees several GPUs
   */
  record Ready(String device, String uuid) implements ControlMessage {
    private static final Pattern UUID = Pattern.compile("(GPU-[0-9a-f-]{36})?");

    /** Checks the UUID, which becomes a label of metrics. */
    public Ready {
      if (!UUID.matcher(uuid).matches()) {
        throw new IllegalArgumentException("no UUID of a GPU: " + uuid);
      }
    }
  }

  /** From a worker: it cannot work, for this reason, and exits. */
  record Failed(String reason) implements ControlMessage {}

  /**
   * From a worker: what its session has used so far.
   *
   * @param calls the calls that were executed
   * @param roundTrips those of them for whose answer the client waited
   * @param memory the device memory that is allocated now
   * @param peak the most device memory that was allocated
   */
  record Used(long bytesIn, long bytesOut, long calls, long roundTrips, long memory, long peak)
      implements ControlMessage {
    /** What a session has used before it begins. */
    public static final Used NOTHING = new Used(0, 0, 0, 0, 0, 0);
  }

  /**
   * From a worker: the region that its session shares with other sessions of the guest, and the
   * most memory at one time for which the client says that the region had no room.
   */
  record RegionUse(long region, long lacked) implements ControlMessage {}

  /** From a worker: the program that its session serves, as the guest says. */
  record Program(GuestProgram program) implements ControlMessage {}

  /** To a worker: end the session, after its client has been told this reason. */
  record EndSession(String reason) implements ControlMessage {}

  /** From a worker: its session has ended, and it exits. */
  record Ended(String reason) implements ControlMessage {}

  /** From a worker: its session has reached a limit, and something was refused. */
  record LimitReached(Limit limit) implements ControlMessage {}

  /**
   * To a worker, with the descriptors of the client's connection, of the file that counts what the
   * guest's sessions use ({@link graft.remoting.server.exchange.GuestUse}), of the page of its
   * lease ({@link graft.remoting.server.exchange.LeasePage}), and of the memory that the guest
   * shares: serve this client, beginning with WELCOME.
   *
   * @param limits the session's limits
   * @param slots the number of slots in the file that counts what the guest's sessions use
   * @param slot the slot of this session
   * @param channel the number of the channel, from HELLO
   * @param apiHash the hash of the client's API description, from HELLO
   * @param shared what the worker has to know of shared memory, see {@link GuestMemory}
   * @param problem why there is no shared memory, empty if there is
   * @param tlsKey the pre-shared key of TLS, empty without TLS
   */
  record StartSession(
      long id,
      String name,
      SessionLimits limits,
      int slots,
      int slot,
      int channel,
      long apiHash,
      Bytes shared,
      String problem,
      Bytes welcome,
      Bytes tlsKey)
      implements ControlMessage {}

  /**
   * To a worker, with a descriptor: a further connection of its session, with the pre-shared key of
   * TLS, which is empty without TLS.
   */
  record AddConnection(int purpose, Bytes welcome, Bytes tlsKey) implements ControlMessage {}

  /**
   * To a worker, with a descriptor: a connection to the session of another server, for a link.
   *
   * @param link the client's number for the link
   * @param welcome what the worker has to send first; empty if this server has made the connection
   * @param tlsKey the pre-shared key of TLS, empty without TLS
   */
  record AddPeer(int link, Bytes welcome, Bytes tlsKey) implements ControlMessage {}

  /**
   * From a worker: asks for connections to the session of a ticket. They come by {@link AddPeer},
   * and then {@link Shared} as an answer, empty if there are none.
   */
  record OpenPeer(int link, PeerTicket ticket) implements ControlMessage {}

  /** From a worker: its session waits for the lease of its GPU. */
  record AskLease() implements ControlMessage {}

  /** To a worker: its session has the lease. */
  record LeaseGranted() implements ControlMessage {}

  /** From a worker: a handle that its session exports, with the descriptor of physical memory. */
  record Give(Bytes token, Bytes handle) implements ControlMessage {}

  /** From a worker: asks for the handle of a token. */
  record Find(Bytes token) implements ControlMessage {}

  /**
   * To a worker, the answer to {@link Give}, {@link Find} and others: the handle, and its
   * descriptor if it has one; empty if there is no such handle or no room for it.
   */
  record Shared(Bytes handle) implements ControlMessage {}

  /** From a worker: asks which contents of a kind are kept for its session's name. */
  record KnownContents(ContentExchange.Kind kind) implements ControlMessage {}

  /** From a worker, with a descriptor: a content to keep. */
  record KeepContent(ContentExchange.Kind kind, Bytes hash) implements ControlMessage {}

  /** From a worker: asks for the descriptor of that content. */
  record FindContent(ContentExchange.Kind kind, Bytes hash) implements ControlMessage {}

  /** Encodes the message as a packet. */
  default byte[] encode() {
    return ControlCodec.encode(this);
  }

  /** Decodes a packet. */
  static ControlMessage decode(byte[] packet) throws IOException {
    return ControlCodec.decode(packet);
  }
}

package graft.remoting.server.accept;

import com.sun.jna.Native;
import graft.common.grants.Grant;
import graft.remoting.server.pool.WorkerPool;
import graft.remoting.server.protocol.HandshakeMessages;
import graft.remoting.server.system.Bytes;
import graft.remoting.server.system.Libc;
import graft.remoting.server.transport.VchanOffer;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/**
 * The memory that a guest shares with its session: the guest's own region, or pages of this domain.
 * The server opens the region, and has graft-starter make the pages; it passes the descriptors to
 * the worker, which cannot open them.
 *
 * @param terms describes pages granted under Xen to the worker; empty for a region
 * @param problem the reason why there is no shared memory, which is sent to the client; empty if
 *     there is shared memory
 * @param fds the descriptors, which belong to the server
 */
public record GuestMemory(Bytes terms, String problem, List<Integer> fds) implements AutoCloseable {
  private static final GuestMemory NONE = new GuestMemory(Bytes.NONE, "", List.of());

  /**
   * Opens the shared memory of a session.
   *
   * @param pool has pages made, if the channel needs them
   */
  static GuestMemory open(int channel, Grant grant, WorkerPool pool) {
    return switch (channel) {
      case HandshakeMessages.CHANNEL_GUEST_MEMORY -> region(Path.of(grant.region()));
      case HandshakeMessages.CHANNEL_VCHAN -> pages(grant.domain(), pool);
      default -> NONE;
    };
  }

  /**
   * Opens a guest's own region. Locks belong to this open file description, and so to one session.
   */
  public static GuestMemory region(Path file) {
    int fd = Libc.open(file.toString(), Libc.O_RDWR | Libc.O_NOFOLLOW | Libc.O_CLOEXEC);
    return fd >= 0
        ? new GuestMemory(Bytes.NONE, "", List.of(fd))
        : unfit(
            "the server cannot open the guest's shared memory "
                + file
                + ": "
                + Libc.strerror(Native.getLastError()));
  }

  private static GuestMemory pages(String domain, WorkerPool pool) {
    try {
      VchanOffer offer = pool.grant(domain);
      return new GuestMemory(offer.encode(), "", List.of(offer.grants(), offer.events()));
    } catch (IOException e) {
      return unfit(e.getMessage());
    }
  }

  private static GuestMemory unfit(String problem) {
    return new GuestMemory(Bytes.NONE, problem, List.of());
  }

  /** Closes the server's descriptors. */
  @Override
  public void close() {
    fds.forEach(Libc::close);
  }
}

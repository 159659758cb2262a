package graft.remoting.server.transport;

import com.sun.jna.Native;
import graft.remoting.server.protocol.HandshakeMessages;
import graft.remoting.server.system.Scratch;
import java.util.Optional;

/**
 * The client's own code for streams in blocks ({@code client/src/transport/blocks.h}), in {@code
 * libgraft-transport.so}. It opens the system's zstd. Bound by JNA direct mapping; pointers are
 * addresses, and a C bool is a byte.
 */
public final class Blocks {
  private static final int REASON = 512;

  static {
    Native.register(Blocks.class, "graft-transport");
  }

  private Blocks() {}

  /** Returns why this machine cannot decompress, empty if it can. */
  public static Optional<String> obstacle() {
    try (Scratch reason = new Scratch(REASON)) {
      return graft_blocks_present(reason.address(), REASON) != 0
          ? Optional.empty()
          : Optional.of(HandshakeMessages.text(reason.bytes(0, REASON)));
    }
  }

  private static native byte graft_blocks_present(long reason, long size);

  static native long graft_blocks_open(int socket, long tls);

  static native long graft_blocks_try(long blocks, long to, long bytes);

  static native long graft_blocks_receive(long blocks, long to, long bytes);

  static native String graft_blocks_reason(long blocks);

  static native void graft_blocks_close(long blocks);
}

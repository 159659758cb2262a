package graft.remoting.server.transport;

import com.sun.jna.Native;
import graft.remoting.server.protocol.HandshakeMessages;
import graft.remoting.server.system.Scratch;
import java.util.Optional;

/**
 * The client's own code for TLS ({@code client/src/transport/tls.h}), in {@code
 * libgraft-transport.so}. The code opens the system's OpenSSL when the first connection needs it.
 * Java's TLS takes no external pre-shared key. Bound by JNA direct mapping; pointers are addresses,
 * and a C bool is a byte.
 */
public final class Tls {
  /**
   * The variable in the server's environment that keeps TLS out of the kernel if it is {@code no}.
   */
  public static final String KERNEL = "GRAFT_KTLS";

  static final int REASON = 512;

  static {
    Native.register(Tls.class, "graft-transport");
  }

  private Tls() {}

  /** Returns why this machine cannot encrypt, empty if it can. */
  public static Optional<String> obstacle() {
    try (Scratch reason = new Scratch(REASON)) {
      return graft_tls_present(reason.address(), REASON) != 0
          ? Optional.empty()
          : Optional.of(HandshakeMessages.text(reason.bytes(0, REASON)));
    }
  }

  private static native byte graft_tls_present(long reason, long size);

  static native long graft_tls_open(
      int socket, byte server, long key, int milliseconds, long reason, long size);

  static native byte graft_tls_send_by_kernel(long tls, long reason, long size);

  static native long graft_tls_try(long tls, long to, long bytes);

  static native long graft_tls_receive(long tls, long to, long bytes);

  static native long graft_tls_send(long tls, long data, long bytes, byte more);

  static native void graft_tls_close(long tls);
}

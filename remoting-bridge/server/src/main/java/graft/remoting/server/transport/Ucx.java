package graft.remoting.server.transport;

import com.sun.jna.Native;
import graft.remoting.server.protocol.HandshakeMessages;
import graft.remoting.server.system.Scratch;
import java.util.Optional;

/**
 * The client's own code for connections over UCX ({@code client/src/transport/ucx.h}), as {@code
 * libgraft-transport.so} in this jar. The code opens the system's libucp when the first connection
 * needs it. Bound by JNA direct mapping; pointers are addresses, and a C bool is a byte.
 *
 * <p>The alternative jucx would call the same functions, but each message would cross into Java
 * several times, and jucx brings its own libucp, whose version would have to match the guests'.
 */
public final class Ucx {
  /**
   * The variable that names the ports for this process' connections; the client's variable has the
   * same name.
   */
  public static final String PORTS = "GRAFT_RDMA_PORTS";

  /** The variable that names the folder of adapters, for tests. */
  public static final String DEVICES_VARIABLE = "GRAFT_RDMA_DEVICES";

  private static final String DEVICES =
      System.getenv().getOrDefault(DEVICES_VARIABLE, "/sys/class/infiniband");
  private static final int REASON = 512;

  static {
    Native.register(Ucx.class, "graft-transport");
    graft_ucx_use(DEVICES, System.getenv().getOrDefault(PORTS, ""));
  }

  private Ucx() {}

  /**
   * Looks for ports without loading UCX. Returns why one of them is not usable, empty if all are.
   */
  public static Optional<String> obstacle(String ports) {
    try (Scratch names = new Scratch(REASON);
        Scratch reason = new Scratch(REASON)) {
      return graft_rails(DEVICES, ports, names.address(), REASON, reason.address(), REASON) != 0
          ? Optional.empty()
          : Optional.of(HandshakeMessages.text(reason.bytes(0, REASON)));
    }
  }

  private static native byte graft_rails(
      String folder, String ports, long devices, long bytes, long reason, long size);

  private static native void graft_ucx_use(String folder, String ports);

  static native long graft_ucx_open(int socket, long tls, long reason, long size);

  public static native byte graft_ucx_use_gpu(
      long memory, long bytes, byte anyhow, long reason, long size);

  static native byte graft_ucx_is_over_adapter(long connection);

  static native byte graft_ucx_send(long connection, long data, long bytes);

  static native long graft_ucx_try(long connection, long to, long bytes);

  static native long graft_ucx_receive(long connection, long to, long bytes);

  static native byte graft_ucx_send_gpu(long connection, long data, long bytes);

  static native long graft_ucx_take(long connection, long to, long bytes);

  static native byte graft_ucx_is_taken(long connection, long mark);

  static native byte graft_ucx_work_taking(long connection);

  static native long graft_ucx_take_gpu(long connection, long to, long bytes);

  static native void graft_ucx_close(long connection);
}

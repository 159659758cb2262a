package graft.remoting.server;

import com.sun.jna.Native;

/**
 * The client's own code for connections over UCX ({@code client/src/ucx.h}), as {@code
 * libgraft-ucx.so} in this jar. It opens the system's libucp when the first connection asks for it.
 * Bound directly by JNA; pointers are addresses, a C bool is a byte.
 *
 * <p>Not jucx: its calls are the same, but each message would cross into Java several times, and it
 * brings a libucp of its own, which has to be of the guests' version.
 */
final class Ucx {
  static {
    Native.register(Ucx.class, "graft-ucx");
  }

  private Ucx() {}

  static native long graft_ucx_open(int socket, long reason, long size);

  static native byte graft_ucx_send(long connection, long data, long bytes);

  static native long graft_ucx_try(long connection, long to, long bytes);

  static native long graft_ucx_receive(long connection, long to, long bytes);

  static native void graft_ucx_close(long connection);
}

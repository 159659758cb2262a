package graft.remoting.server.system;

import com.sun.jna.Native;
import graft.remoting.device.Memory;
import java.nio.charset.StandardCharsets;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells systemd how the server is, if systemd started it with {@code Type=notify}: one datagram to
 * the socket that {@code NOTIFY_SOCKET} names (sd_notify(3), "Notes").
 */
public final class ServiceManager {
  private static final Logger LOG = LoggerFactory.getLogger(ServiceManager.class);
  private static final String VARIABLE = "NOTIFY_SOCKET";

  private ServiceManager() {}

  /** Says that the server accepts clients. */
  public static void ready() {
    tell(System.getenv(VARIABLE), "READY=1");
  }

  /** Says that the server is stopping. */
  public static void stopping() {
    tell(System.getenv(VARIABLE), "STOPPING=1");
  }

  /**
   * Sends a state.
   *
   * @param socket the socket's path, or a name in the abstract namespace after {@code @}; null if
   *     nobody waits for the state
   */
  static void tell(String socket, String state) {
    if (socket == null || !(socket.startsWith("/") || socket.startsWith("@"))) {
      return;
    }
    byte[] path = socket.getBytes(StandardCharsets.UTF_8);
    if (path.length > SocketAddress.MAX_PATH) {
      LOG.warn("{} is too long for a socket", VARIABLE);
      return;
    }
    int fd = Libc.socket(Libc.AF_UNIX, Libc.SOCK_DGRAM | Libc.SOCK_CLOEXEC, 0);
    byte[] text = state.getBytes(StandardCharsets.UTF_8);
    try (Scratch address = new Scratch(SocketAddress.CAPACITY);
        Scratch message = Scratch.of(text)) {
      Memory.putShort(address.address(), (short) Libc.AF_UNIX);
      Memory.write(address.address() + 2, path, 0, path.length);
      if (path[0] == '@') {
        Memory.putByte(address.address() + 2, (byte) 0);
      }
      if (Libc.connect(fd, address.address(), 2 + path.length) < 0
          || Libc.send(fd, message.address(), text.length, Libc.MSG_NOSIGNAL) < 0) {
        LOG.warn("cannot tell systemd {}: {}", state, Libc.strerror(Native.getLastError()));
      }
    } finally {
      Libc.close(fd);
    }
  }
}

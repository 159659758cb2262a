package graft.remoting.server.system;

import java.io.IOException;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.util.Collections;
import java.util.Optional;

/** From which address of this machine a test connects. */
public final class LocalAddress {
  private LocalAddress() {}

  /** Binds a TCP socket to an address such as 127.0.0.2, and any port. */
  public static void bind(int socket, String local) throws IOException {
    try (Scratch address = new Scratch(SocketAddress.CAPACITY)) {
      int length = SocketAddress.write(address.address(), InetAddress.getByName(local), 0);
      if (Libc.bind(socket, address.address(), length) != 0) {
        throw Libc.failure("bind to " + local);
      }
    }
  }

  /** An address of this machine that is not on the loopback interface. */
  public static Optional<String> network() throws IOException {
    return NetworkInterface.networkInterfaces()
        .flatMap(card -> Collections.list(card.getInetAddresses()).stream())
        .filter(address -> address instanceof Inet4Address && !address.isLoopbackAddress())
        .map(InetAddress::getHostAddress)
        .findFirst();
  }
}

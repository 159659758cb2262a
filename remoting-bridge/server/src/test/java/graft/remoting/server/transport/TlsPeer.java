package graft.remoting.server.transport;

import graft.remoting.server.system.Bytes;
import graft.remoting.server.system.NativeSocket;
import java.io.IOException;
import java.time.Duration;

/** The client's end of TLS, for tests outside this package. */
public final class TlsPeer {
  private TlsPeer() {}

  public static NativeSocket connect(NativeSocket socket, byte[] key) throws IOException {
    return TlsSocket.open(socket, false, Bytes.of(key), Duration.ofSeconds(10));
  }
}

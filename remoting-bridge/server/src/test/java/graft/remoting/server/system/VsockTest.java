package graft.remoting.server.system;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import graft.remoting.device.Memory;
import graft.remoting.server.WireClient;
import org.junit.jupiter.api.Test;

/** Addresses of vsock. Connections would need a guest, or a kernel with vsock's loopback. */
class VsockTest {
  @Test
  void anAddressIsAContextIdAndAPort() {
    assertThat(ListenAddress.parse("vsock://2:7799")).isEqualTo(new ListenAddress.Vsock(2, 7799));
    assertThat(ListenAddress.parse("vsock://any:7799")).hasToString("vsock://any:7799");
    for (String wrong :
        new String[] {"vsock://7799", "vsock://host:1", "vsock://2:x", "vsock://"}) {
      assertThatThrownBy(() -> ListenAddress.parse(wrong))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("vsock://CID:PORT");
    }
  }

  @Test
  void theKernelsFormHoldsBoth() {
    try (Scratch scratch = new Scratch(SocketAddress.CAPACITY)) {
      long memory = scratch.address();
      assertThat(SocketAddress.write(memory, new ListenAddress.Vsock(70_000, 7799))).isEqualTo(16);
      assertThat(Memory.getShort(memory)).isEqualTo((short) Libc.AF_VSOCK);
      assertThat(SocketAddress.cid(memory)).hasValue(70_000);
      assertThat(SocketAddress.text(memory)).isEqualTo("vsock 70000:7799");
    }
  }

  @Test
  void otherSocketsHaveNoContextId() throws Exception {
    try (Listener listener = Listener.open(ListenAddress.parse("tcp://127.0.0.1:0"));
        WireClient client = WireClient.connect(listener.address());
        NativeSocket accepted = listener.accept()) {
      assertThat(client).isNotNull();
      assertThat(accepted.peerCid()).isEmpty();
    }
  }
}

package graft.remoting.server.system;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import graft.remoting.device.Memory;
import graft.remoting.server.control.ControlSocket;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;

/** Descriptors that another process sends are all received or closed. */
@Isolated("it counts the descriptors of this process")
class DescriptorsTest {
  @TempDir Path folder;
  private Listener listener;
  private NativeSocket one;
  private NativeSocket other;

  @BeforeEach
  void connect() throws Exception {
    Path path = folder.resolve("s");
    listener = Listener.openUnix(path, Libc.SOCK_SEQPACKET);
    one = new NativeSocket(ControlSocket.connect(path).fd(), "one");
    other = listener.accept();
  }

  @AfterEach
  void close() {
    one.close();
    other.close();
    listener.close();
  }

  private static long open() throws IOException {
    try (Stream<Path> all = Files.list(Path.of("/proc/self/fd"))) {
      return all.count();
    }
  }

  private void send(int bytes, int fds) throws IOException {
    try (Scratch data = new Scratch(bytes);
        Scratch ends = new Scratch(8)) {
      assertThat(Libc.pipe2(ends.address(), Libc.O_CLOEXEC)).isZero();
      int in = Memory.getInt(ends.address());
      int out = Memory.getInt(ends.address() + 4);
      List<Integer> all = List.of(in, out, in, out, in, out).subList(0, fds);
      Descriptors.send(one, data.address(), bytes, all, 0);
      Libc.close(in);
      Libc.close(out);
    }
  }

  @Test
  void allArrive() throws Exception {
    long before = open();
    try (Scratch data = new Scratch(64)) {
      for (int fds = 0; fds <= Descriptors.MOST; fds++) {
        send(8, fds);
        Descriptors.Received received = Descriptors.receive(other, data.address(), 64);
        assertThat(received.bytes()).isEqualTo(8);
        assertThat(received.fds()).hasSize(fds).doesNotHaveDuplicates();
        received.fds().forEach(Descriptors::discard);
      }
    }
    assertThat(open()).isEqualTo(before);
  }

  @Test
  void thoseOfAMessageThatIsTooLongAreClosed() throws Exception {
    long before = open();
    send(100, 3);
    try (Scratch data = new Scratch(64)) {
      assertThatThrownBy(() -> Descriptors.receive(other, data.address(), 64))
          .hasMessageContaining("was cut");
    }
    assertThat(open()).isEqualTo(before);
  }

  @Test
  void thoseOfAMessageThatCannotBeAreClosed() throws Exception {
    long before = open();
    send(8, 2);
    ControlSocket socket = ControlSocket.of(other.fd());
    assertThatThrownBy(socket::receive).isInstanceOf(IOException.class);
    assertThat(open()).isEqualTo(before);
  }
}

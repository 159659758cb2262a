package graft.deployment.step.guest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import graft.common.program.HostProgram;
import graft.deployment.step.StepFailure;
import graft.guests.connection.Ended;
import graft.guests.connection.GuestConnection;
import graft.guests.connection.GuestProcess;
import graft.guests.connection.LocalTerminal;
import graft.guests.connection.TerminalSession;
import graft.guests.payload.Payload;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the step does in a guest; the guest is this machine, with a file of its own. */
class OrderChannelsTest {
  private static final List<String> ORDER = List.of("ivshmem+vsock://2:1", "tcp://[fe80::1]:1");
  private static final OrderChannels STEP =
      new OrderChannels("qemu:///x", "alice", "u", Optional.empty(), ORDER, List.of(), "");

  @TempDir Path folder;
  private Path configuration;

  @BeforeEach
  void write() throws IOException {
    configuration = folder.resolve("client.conf");
  }

  private final GuestConnection guest =
      new GuestConnection() {
        @Override
        public boolean answers(Duration timeout) {
          return true;
        }

        @Override
        public Ended run(List<String> words, byte[] input, Duration timeout) {
          List<String> here =
              words.stream()
                  .map(w -> w.equals(Payload.CLIENT_CONFIGURATION) ? configuration.toString() : w)
                  .toList();
          ByteArrayOutputStream out = new ByteArrayOutputStream();
          try {
            HostProgram.End end =
                HostProgram.of(here.get(0), here.subList(1, here.size()))
                    .run(timeout, InputStream.nullInputStream(), out, out);
            return new Ended(end.code(), out, new ByteArrayOutputStream(), false);
          } catch (IOException e) {
            throw new UncheckedIOException(e);
          }
        }

        @Override
        public GuestProcess start(List<String> words, Optional<InputStream> input) {
          throw new AssertionError("nothing is started");
        }

        @Override
        public TerminalSession start(List<String> words, LocalTerminal terminal) {
          throw new AssertionError("nothing is started");
        }

        @Override
        public void put(InputStream content, String path, int mode) {
          throw new AssertionError("nothing else is written");
        }

        @Override
        public void get(String path, OutputStream to) {
          throw new AssertionError("nothing is read");
        }
      };

  @Test
  void oneLineChangesAndNothingElse() throws Exception {
    Files.writeString(
        configuration,
        "# Written by graft.\nserver = tcp://a:1, vsock://2:1\nname = alice\nlanes = 4\n");
    Files.setPosixFilePermissions(configuration, PosixFilePermissions.fromString("rw-r-----"));
    STEP.bring(guest, ORDER);
    assertThat(Files.readString(configuration))
        .isEqualTo(
            "# Written by graft.\nserver = ivshmem+vsock://2:1, tcp://[fe80::1]:1\nname = alice\n"
                + "lanes = 4\n");
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(configuration)))
        .isEqualTo("rw-r-----");
    try (Stream<Path> files = Files.list(folder)) {
      assertThat(files).containsExactly(configuration);
    }
  }

  @Test
  void aGuestWithAnotherConfigurationIsLeftAlone() throws Exception {
    Files.writeString(configuration, "# servers are chosen elsewhere\n");
    assertThatThrownBy(() -> STEP.bring(guest, ORDER))
        .isInstanceOf(StepFailure.class)
        .hasMessageContaining("/etc/graft/client.conf in the guest 'alice' could not be changed");
    assertThat(Files.readString(configuration)).isEqualTo("# servers are chosen elsewhere\n");
  }
}

package graft.guests.copy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import graft.guests.connection.Ended;
import graft.guests.connection.GuestConnection;
import graft.guests.connection.GuestConnectionException;
import graft.guests.connection.GuestProcess;
import graft.guests.connection.LocalTerminal;
import graft.guests.connection.TerminalSession;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Copies of folders, with tar(1) of this machine in place of a guest's. */
@Timeout(120)
class GuestFolderTest {
  @TempDir Path folder;
  private final List<Long> progress = new ArrayList<>();

  /** Starts programs of this machine. */
  private record Local(String sh) implements GuestConnection {
    @Override
    public boolean answers(Duration timeout) {
      return true;
    }

    @Override
    public Ended run(List<String> words, byte[] input, Duration timeout) {
      throw new AssertionError();
    }

    @Override
    public GuestProcess start(List<String> words, Optional<InputStream> input) {
      List<String> command = new ArrayList<>(words);
      command.set(0, sh);
      return new GuestProcess() {
        @Override
        public int await(OutputStream output, OutputStream errors, Duration timeout)
            throws IOException {
          Process process = new ProcessBuilder(command).start();
          Thread typing = new Thread(() -> feed(process, input));
          typing.start();
          process.getInputStream().transferTo(output);
          process.getErrorStream().transferTo(errors);
          return process.onExit().join().exitValue();
        }

        @Override
        public void stop() {
          throw new AssertionError();
        }
      };
    }

    private static void feed(Process process, Optional<InputStream> input) {
      try (OutputStream to = process.getOutputStream()) {
        if (input.isPresent()) {
          input.get().transferTo(to);
        }
      } catch (IOException e) {
        // one of the two ends has failed
      }
    }

    @Override
    public TerminalSession start(List<String> words, LocalTerminal terminal) {
      throw new AssertionError();
    }

    @Override
    public void put(InputStream content, String path, int mode) {
      throw new AssertionError();
    }

    @Override
    public void get(String path, OutputStream to) {
      throw new AssertionError();
    }
  }

  private GuestFolder guest(Path path) {
    return new GuestFolder(new Local("/bin/sh"), path.toString());
  }

  private Path filled() throws IOException {
    Path from = Files.createDirectory(folder.resolve("from"));
    Files.createDirectory(from.resolve("sub"));
    Files.write(from.resolve("sub/large"), new byte[5_000_000]);
    Files.writeString(from.resolve("small"), "one");
    Files.createSymbolicLink(from.resolve("link"), Path.of("small"));
    return from;
  }

  @Test
  void aFolderGoesThereAndBack() throws Exception {
    Path there = folder.resolve("there");
    assertThat(guest(there).bring(filled(), progress::add).bytes()).isEqualTo(5_000_003);
    assertThat(there.resolve("sub/large")).hasSize(5_000_000);
    assertThat(Files.isSymbolicLink(there.resolve("link"))).isTrue();
    assertThat(progress.get(progress.size() - 1)).isGreaterThan(5_000_000);
    assertThat(progress.size()).isGreaterThan(5);

    Path back = folder.resolve("back");
    CopiedFolder copied = guest(there).fetch(back, progress::add);
    assertThat(copied).isEqualTo(new CopiedFolder(2, 5_000_003, 1, List.of("./link")));
    assertThat(back.resolve("sub/large")).hasSize(5_000_000);
  }

  @Test
  void aFolderThatExistsKeepsItsModeAndItsOtherFiles() throws Exception {
    Path there = Files.createDirectory(folder.resolve("there"));
    assertThat(there.toFile().setReadable(false, false)).isTrue();
    var before = Files.getPosixFilePermissions(there);
    Files.writeString(there.resolve("other"), "stays");
    Files.writeString(there.resolve("small"), "old");
    guest(there).bring(filled(), progress::add);
    assertThat(Files.getPosixFilePermissions(there)).isEqualTo(before);
    assertThat(there.resolve("other")).hasContent("stays");
    assertThat(there.resolve("small")).hasContent("one");
  }

  @Test
  void whatTheGuestCannotDoIsSaidInItsWords() throws Exception {
    Path file = Files.writeString(folder.resolve("file"), "");
    Path from = filled();
    assertThatThrownBy(() -> guest(file).bring(from, progress::add))
        .isInstanceOf(GuestConnectionException.class)
        .hasMessageContaining("cannot write the folder " + file + " in the guest: mkdir:");
    assertThatThrownBy(() -> guest(folder.resolve("no")).fetch(folder.resolve("x"), progress::add))
        .isInstanceOf(GuestConnectionException.class)
        .hasMessageContaining("cannot read the folder " + folder.resolve("no"));
  }

  @Test
  void aDiskThatIsFullHereEndsTheCopy() throws Exception {
    Path there = folder.resolve("there");
    guest(there).bring(filled(), progress::add);
    Path back = Files.createDirectory(folder.resolve("back"));
    Files.writeString(back.resolve("sub"), "a file where a folder has to be");
    assertThatIOException()
        .isThrownBy(() -> guest(there).fetch(back, progress::add))
        .withMessageContaining("is there already, and is no folder");
  }

  /** A guest whose tar sends anything for ever. */
  @Test
  void aGuestThatSendsNoArchiveIsRefused() throws Exception {
    Path sh = folder.resolve("sh");
    Files.writeString(sh, "#!/bin/sh\nexec yes\n");
    assertThat(sh.toFile().setExecutable(true)).isTrue();
    assertThatIOException()
        .isThrownBy(
            () ->
                new GuestFolder(new Local(sh.toString()), "/x")
                    .fetch(folder.resolve("x"), progress::add));
  }
}

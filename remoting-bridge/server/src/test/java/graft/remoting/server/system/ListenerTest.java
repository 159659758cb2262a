package graft.remoting.server.system;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.FileInputStream;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ListenerTest {
  @TempDir Path folder;

  /** A server closes its listeners twice at its end; the numbers may be others' by then. */
  @Test
  void oneThatIsClosedAgainClosesNothingElse() throws Exception {
    Path path = folder.resolve("s.sock");
    Listener listener = Listener.open(new ListenAddress.Unix(path));
    listener.close();
    assertThat(path).doesNotExist();
    List<FileInputStream> others = new ArrayList<>();
    try {
      for (int i = 0; i < 20; i++) {
        others.add(new FileInputStream("/dev/zero"));
      }
      listener.close();
      for (FileInputStream other : others) {
        assertThat(other.read()).isZero();
      }
    } finally {
      for (FileInputStream other : others) {
        closeQuietly(other);
      }
    }
  }

  private static void closeQuietly(FileInputStream other) {
    try {
      other.close();
    } catch (IOException e) {
      // Its number was closed by somebody else, which the test has reported.
    }
  }
}

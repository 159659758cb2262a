package graft.deployment.observe;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The size of a disk, from the first bytes of a file that a user names. */
class QcowHeaderTest {
  @TempDir Path folder;

  private Optional<Long> size(byte[] content) throws Exception {
    return QcowHeader.diskSize(Files.write(folder.resolve("image"), content));
  }

  private static byte[] header(long size) {
    return ByteBuffer.allocate(104).putInt(0x514649fb).putInt(3).putLong(24, size).array();
  }

  @Test
  void anImageHasTheSizeOfItsHeader() throws Exception {
    assertThat(size(header(10L << 30))).contains(10L << 30);
  }

  @Test
  void anotherFileHasNone() throws Exception {
    for (byte[] other : new byte[][] {{}, {'Q', 'F', 'I'}, new byte[512]}) {
      assertThat(size(other)).isEmpty();
    }
  }

  @Test
  void aDamagedHeaderHasASizeThatFitsNowhere() throws Exception {
    assertThat(size(header(-1))).contains(0L);
    for (int length = 4; length < 32; length++) {
      assertThat(size(Arrays.copyOf(header(7), length))).contains(0L);
    }
  }
}

package graft.remoting.server.session.code;

import static org.assertj.core.api.Assertions.assertThat;

import graft.remoting.device.Memory;
import graft.remoting.server.WireClient;
import graft.remoting.server.system.Scratch;
import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;

class FatbinWrapperTest {
  private static final int HEAD = 8 + 3 * 8;

  /** A header for three images with these sizes. */
  private static byte[] images(int count, int length, long... sizes) {
    ByteBuffer data = WireClient.little(length).putInt(FatbinWrapper.MAGIC).putInt(count);
    for (long size : sizes) {
      data.putLong(size);
    }
    return WireClient.bytes(data, 0, length);
  }

  private static boolean isRead(byte[] data) {
    try (Scratch image = Scratch.of(data);
        FatbinWrapper wrapper = FatbinWrapper.read(image.address(), data.length)) {
      return wrapper != null;
    }
  }

  @Test
  void theDriverGetsTheLinkedOneAndAListOfTheOthers() {
    byte[] data = images(3, HEAD + 16 + 24 + 32, 16, 20, 32);
    try (Scratch image = Scratch.of(data);
        FatbinWrapper wrapper = FatbinWrapper.read(image.address(), data.length)) {
      long at = wrapper.address();
      assertThat(Memory.getInt(at)).isEqualTo(0x466243B1);
      assertThat(Memory.getInt(at + 4)).isEqualTo(2);
      assertThat(Memory.getLong(at + 8)).isEqualTo(image.address() + HEAD);
      long others = Memory.getLong(at + 16);
      assertThat(Memory.getLong(others)).isEqualTo(image.address() + HEAD + 16);
      assertThat(Memory.getLong(others + 8)).isEqualTo(image.address() + HEAD + 16 + 24);
      assertThat(Memory.getLong(others + 16)).isZero();
    }
  }

  @Test
  void sizesThatDoNotFitAreRefused() {
    int length = HEAD + 3 * 16;
    assertThat(isRead(images(3, length, 16, 16, 16))).isTrue();
    assertThat(isRead(images(3, length, 16, 16, 17))).isFalse();
    assertThat(isRead(images(3, length, 16, 16, -1))).isFalse();
    assertThat(isRead(images(3, length, 16, Long.MAX_VALUE, 16))).isFalse();
    assertThat(isRead(images(3, length, 16, 16, 8))).isFalse();
    assertThat(isRead(images(0, length, 16, 16, 16))).isFalse();
    assertThat(isRead(images(-1, length, 16, 16, 16))).isFalse();
    assertThat(isRead(images(1 << 30, length, 16, 16, 16))).isFalse();
    assertThat(isRead(images(4096, length, 16, 16, 16))).isFalse();
  }
}

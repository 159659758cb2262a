package graft.remoting.software.image;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import graft.remoting.software.TestDevice;
import graft.remoting.software.memory.Native;
import io.airlift.compress.Compressor;
import io.airlift.compress.lz4.Lz4Compressor;
import io.airlift.compress.zstd.ZstdCompressor;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

/** Fat binaries framed as nvcc's fatbinary tool frames them. */
final class FatbinTest {
  private static final byte[] PTX =
      TestDevice.resource("basic.ptx").getBytes(StandardCharsets.UTF_8);

  private static byte[] entry(int kind, int architecture, long flags, byte[] data, int raw) {
    int padded = (data.length + 7) & ~7;
    ByteBuffer b = ByteBuffer.allocate(80 + padded).order(ByteOrder.LITTLE_ENDIAN);
    b.putShort(0, (short) kind).putInt(4, 80).putLong(8, padded).putInt(16, data.length);
    b.putShort(26, (short) 9).putInt(28, architecture).putLong(40, flags).putLong(56, raw);
    b.put(80, data);
    return b.array();
  }

  private static byte[] compressed(Compressor compressor) {
    byte[] out = new byte[compressor.maxCompressedLength(PTX.length)];
    return Arrays.copyOf(out, compressor.compress(PTX, 0, PTX.length, out, 0, out.length));
  }

  private static byte[] join(byte[]... parts) {
    int size = Arrays.stream(parts).mapToInt(p -> p.length).sum();
    ByteBuffer b = ByteBuffer.allocate(size);
    Arrays.stream(parts).forEach(b::put);
    return b.array();
  }

  @Test
  void takesPlainAndCompressedPtx() {
    byte[] zstd = compressed(new ZstdCompressor());
    byte[] lz4 = compressed(new Lz4Compressor());
    assertThat(zstd.length).isLessThan(PTX.length);
    assertThat(Fatbin.read(entry(1, 75, 0x11, PTX, 0)).ptx(90)).startsWith(PTX);
    assertThat(Fatbin.read(entry(1, 75, 0x8011, zstd, PTX.length)).ptx(90)).isEqualTo(PTX);
    assertThat(Fatbin.read(entry(1, 75, 0x2011, lz4, PTX.length)).ptx(90)).isEqualTo(PTX);
  }

  @Test
  void takesTheNewestPtxThatTheDeviceRuns() {
    byte[] old = "old.....".getBytes(StandardCharsets.UTF_8);
    byte[] mid = "middle..".getBytes(StandardCharsets.UTF_8);
    byte[] fresh = "fresh...".getBytes(StandardCharsets.UTF_8);
    Fatbin fatbin =
        Fatbin.read(
            join(entry(1, 75, 0, old, 0), entry(1, 120, 0, fresh, 0), entry(1, 80, 0, mid, 0)));
    assertThat(fatbin.ptx(90)).isEqualTo(mid);
    assertThat(fatbin.ptx(75)).isEqualTo(old);
    assertThat(fatbin.ptx(70)).isNull();
  }

  @Test
  void saysWhatIsThereInsteadOfPtx() {
    byte[] machineCode = new byte[64];
    Arrays.fill(machineCode, (byte) 0xff);
    byte[] entries = entry(2, 90, 0, machineCode, 0);
    long image = Native.UNSAFE.allocateMemory(entries.length + 16L);
    try {
      Native.UNSAFE.putInt(image, 0xBA55ED50);
      Native.UNSAFE.putShort(image + 4, (short) 1);
      Native.UNSAFE.putShort(image + 6, (short) 16);
      Native.UNSAFE.putLong(image + 8, entries.length);
      Native.put(image + 16, entries, entries.length);
      assertThatThrownBy(() -> Image.ptx(image, 90))
          .isInstanceOfSatisfying(
              ImageException.class,
              e -> assertThat(e.code()).isEqualTo(ImageException.NO_BINARY_FOR_GPU))
          .hasMessageContaining("machine code sm_90")
          .hasMessageContaining("code=compute_75");
    } finally {
      Native.UNSAFE.freeMemory(image);
    }
  }

  @Test
  void refusesDamage() {
    byte[] zstd = compressed(new ZstdCompressor());
    zstd[20] ^= 0x55;
    zstd[40] ^= 0x55;
    byte[] damaged = entry(1, 75, 0x8011, zstd, PTX.length);
    assertThatThrownBy(() -> Fatbin.read(damaged).ptx(90)).isInstanceOf(ImageException.class);
    byte[] tooLong = entry(1, 75, 0, PTX, 0);
    ByteBuffer.wrap(tooLong).order(ByteOrder.LITTLE_ENDIAN).putLong(8, 1L << 40);
    assertThatThrownBy(() -> Fatbin.read(tooLong)).isInstanceOf(ImageException.class);
  }
}

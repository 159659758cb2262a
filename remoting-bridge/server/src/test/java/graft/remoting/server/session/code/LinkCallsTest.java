package graft.remoting.server.session.code;

import static org.assertj.core.api.Assertions.assertThat;

import graft.remoting.device.CudaDevice;
import graft.remoting.device.CudaResult;
import graft.remoting.device.Memory;
import graft.remoting.server.session.memory.HostMemory;
import graft.remoting.server.system.Scratch;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

final class LinkCallsTest {
  private static final long HANDLE = 42;
  private static final byte[] IMAGE = "an image".getBytes(StandardCharsets.US_ASCII);

  private final Scratch image = Scratch.of(IMAGE);
  private final Scratch out = new Scratch(64);

  /** Writes the options that it got to the information log, as a driver writes its messages. */
  private final CudaDevice device =
      new CudaDevice() {
        @Override
        public int cuLinkCreate_v2(int count, long options, long values, long link) {
          for (int i = 0; i < count; i++) {
            if (Memory.getInt(options + 4L * i) == 3) {
              Memory.putByte(Memory.getLong(values + 8L * i), (byte) ('0' + count));
            }
          }
          Memory.putLong(link, HANDLE);
          return CudaResult.SUCCESS;
        }

        @Override
        public int cuLinkComplete(long link, long cubin, long size) {
          Memory.putLong(cubin, image.address());
          Memory.putLong(size, IMAGE.length);
          return CudaResult.SUCCESS;
        }

        @Override
        public int cuLinkDestroy(long link) {
          return CudaResult.SUCCESS;
        }
      };

  private final LinkCalls links = new LinkCalls(device, HostMemory.unlimited());

  @AfterEach
  void free() {
    image.close();
    out.close();
  }

  @Test
  void theImageIsReadInPartsOfItOnly() {
    long to = out.address();
    assertThat(links.graftLinkCreate(null, to, 0, 0)).isEqualTo(CudaResult.SUCCESS);
    assertThat(links.graftLinkImage(null, HANDLE, 0, to, 1)).isEqualTo(CudaResult.INVALID_VALUE);
    assertThat(links.graftLinkComplete(null, HANDLE, to)).isEqualTo(CudaResult.SUCCESS);
    assertThat(Memory.getLong(to)).isEqualTo(IMAGE.length);
    assertThat(links.graftLinkImage(null, HANDLE, 3, to, 5)).isEqualTo(CudaResult.SUCCESS);
    assertThat(out.bytes(0, 5)).isEqualTo("image".getBytes(StandardCharsets.US_ASCII));
    assertThat(links.graftLinkImage(null, HANDLE, 4, to, 5)).isEqualTo(CudaResult.INVALID_VALUE);
    assertThat(links.graftLinkImage(null, HANDLE, -1, to, 5)).isEqualTo(CudaResult.INVALID_VALUE);
    assertThat(links.graftLinkImage(null, HANDLE, 0, to, -5)).isEqualTo(CudaResult.INVALID_VALUE);
  }

  @Test
  void optionsThatPointAtTheClientsMemoryAreOurs() {
    try (Scratch options = new Scratch(48)) {
      long at = options.address();
      Memory.putLong(at, 0); // MAX_REGISTERS
      Memory.putLong(at + 8, 32);
      Memory.putLong(at + 16, 3); // INFO_LOG_BUFFER, at an address of the client's
      Memory.putLong(at + 24, 0x1000);
      assertThat(links.graftLinkCreate(null, out.address(), at, 4)).isEqualTo(CudaResult.SUCCESS);
      // The number of registers and two logs with their sizes.
      assertThat(links.graftLinkLogs(null, HANDLE, out.address(), out.address() + 32, 32))
          .isEqualTo(CudaResult.SUCCESS);
      assertThat(out.bytes(0, 2)).isEqualTo(new byte[] {'5', 0});
    }
  }

  @Test
  void aLinkThatHasEndedIsNone() {
    links.graftLinkCreate(null, out.address(), 0, 0);
    assertThat(links.cuLinkDestroy(null, HANDLE)).isEqualTo(CudaResult.SUCCESS);
    assertThat(links.graftLinkComplete(null, HANDLE, out.address()))
        .isEqualTo(CudaResult.INVALID_HANDLE);
    assertThat(links.graftLinkLogs(null, HANDLE, out.address(), out.address(), 8))
        .isEqualTo(CudaResult.INVALID_VALUE);
  }
}

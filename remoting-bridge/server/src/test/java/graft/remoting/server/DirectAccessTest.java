package graft.remoting.server;

import static org.assertj.core.api.Assertions.assertThat;

import graft.remoting.device.CudaResult;
import graft.remoting.device.ForwardingDevice;
import graft.remoting.device.Memory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class DirectAccessTest {
  private static final long BLOCK = 0x5002; // as FakeCuda has it
  private static final int BYTES = 4096;

  private final FakeCuda fake = new FakeCuda();
  private final UsedStreams streams = new UsedStreams();
  private final DirectAccess direct = new DirectAccess(fake, streams, true);
  private final Scratch scratch = new Scratch(64);
  private final long flag = Memory.allocate(8);
  private long memory;
  private long stream;

  @BeforeEach
  void allocate() {
    fake.cuCtxSetCurrent(0xC0);
    fake.cuMemAlloc_v2(scratch.address(), BYTES);
    memory = Memory.getLong(scratch.address());
    fake.cuStreamCreate(scratch.address(), 1);
    stream = Memory.getLong(scratch.address());
    streams.add(stream);
  }

  @AfterEach
  void release() {
    Memory.putIntVolatile(flag, 1);
    fake.cuCtxSynchronize();
    Memory.free(flag);
    fake.cuMemFree_v2(memory);
    scratch.close();
  }

  /** Holds the stream until {@link #release}. */
  private void block() {
    Memory.putLong(flag, 0);
    Memory.putLong(scratch.address(), flag);
    Memory.putLong(scratch.address() + 16, scratch.address());
    long extra = scratch.address() + 8; // a pointer to the packed parameters is its second word
    assertThat(fake.cuLaunchKernel(BLOCK, 1, 1, 1, 1, 1, 1, 0, stream, 0, extra)).isZero();
  }

  @Test
  void memoryIsOpenWhenNothingIsLeftToDo() {
    assertThat(direct.isOpen(memory, BYTES)).isTrue();
    assertThat(direct.isOpen(memory + 100, BYTES - 100)).isTrue();
    assertThat(new DirectAccess(fake, streams, false).isOpen(memory, BYTES)).isFalse();
  }

  @Test
  void onlyMemoryOfOneAllocationIsOpen() {
    assertThat(direct.isOpen(memory, BYTES + 1)).isFalse();
    assertThat(direct.isOpen(memory + 1, BYTES)).isFalse();
    assertThat(direct.isOpen(memory - 1, 2)).isFalse();
    assertThat(direct.isOpen(memory, -1)).isFalse();
    assertThat(direct.isOpen(memory, Long.MIN_VALUE)).isFalse();
    assertThat(direct.isOpen(0, 1)).isFalse();
  }

  @Test
  void workOnAnyStreamClosesIt() {
    block();
    assertThat(direct.isOpen(memory, BYTES)).isFalse();
    Memory.putIntVolatile(flag, 1);
    fake.cuCtxSynchronize();
    assertThat(direct.isOpen(memory, BYTES)).isTrue();
  }

  @Test
  void aStreamThatIsNoMoreMayStillHaveWork() {
    streams.remove(stream);
    assertThat(direct.isOpen(memory, BYTES)).isFalse();
    streams.clear();
    assertThat(direct.isOpen(memory, BYTES)).isTrue();
  }

  @Test
  void soDoStreamsThatAreTooMany() {
    for (int i = 0; i < 17; i++) {
      fake.cuStreamCreate(scratch.address(), 1);
      streams.add(Memory.getLong(scratch.address()));
    }
    assertThat(direct.isOpen(memory, BYTES)).isFalse();
  }

  @Test
  void aStreamThatCapturesClosesItAndIsNotAskedForMore() {
    ForwardingDevice capturing =
        new ForwardingDevice(fake) {
          @Override
          public int cuStreamIsCapturing(long asked, long status) {
            Memory.putInt(status, asked == stream ? 1 : 0);
            return CudaResult.SUCCESS;
          }

          @Override
          public int cuStreamQuery(long asked) {
            assertThat(asked).isNotEqualTo(stream);
            return next.cuStreamQuery(asked);
          }
        };
    assertThat(new DirectAccess(capturing, streams, true).isOpen(memory, BYTES)).isFalse();
  }
}

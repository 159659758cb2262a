package graft.remoting.server.session.copy;

import static org.assertj.core.api.Assertions.assertThat;

import graft.remoting.device.CudaDevice;
import graft.remoting.device.CudaResult;
import graft.remoting.device.ForwardingDevice;
import graft.remoting.device.Memory;
import graft.remoting.server.FakeCuda;
import graft.remoting.server.GpuWithRdma;
import graft.remoting.server.device.GpuDirect;
import graft.remoting.server.session.call.UsedStreams;
import graft.remoting.server.session.memory.AccountedDevice;
import graft.remoting.server.session.memory.MemoryLimit;
import graft.remoting.server.session.state.QueuedWork;
import graft.remoting.server.system.Scratch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class DirectAccessTest {
  private static final long BLOCK = 0x5002; // as FakeCuda has it
  private static final int BYTES = 4096;
  private static final long CONTEXT = 0xC0;

  private final FakeCuda fake = new FakeCuda();
  private final AccountedDevice device = new AccountedDevice(fake, MemoryLimit.of(0));
  private final UsedStreams streams = new UsedStreams();
  private final DirectAccess direct = ours(fake);
  private final Scratch scratch = new Scratch(64);
  private final long flag = Memory.allocate(8);
  private long memory;
  private long stream;

  @BeforeEach
  void allocate() {
    fake.cuCtxSetCurrent(CONTEXT);
    device.cuMemAlloc_v2(scratch.address(), BYTES);
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

  private DirectAccess ours(CudaDevice next) {
    return new DirectAccess(
        new AccountedDevice(next, MemoryLimit.of(0)),
        new QueuedWork(next, streams),
        true,
        GpuDirect.none());
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
    DirectAccess closed =
        new DirectAccess(device, new QueuedWork(device, streams), false, GpuDirect.none());
    assertThat(closed.isOpen(memory, BYTES)).isFalse();
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
    assertThat(ours(capturing).isOpen(memory, BYTES)).isFalse();
  }

  private DirectAccess overUcx(GpuWithRdma gpu) {
    GpuDirect reach = reach(gpu);
    fake.cuCtxSetCurrent(CONTEXT);
    return new DirectAccess(device, new QueuedWork(device, streams), false, reach);
  }

  private static GpuDirect reach(GpuWithRdma gpu) {
    GpuDirect.Trial works = (memory, bytes, anyhow, reason, size) -> 1;
    return GpuDirect.find(gpu, CONTEXT, GpuDirect.Setting.AUTO, works);
  }

  @Test
  void ucxReachesPlainMemoryOfItsContextThatTheDriverOffers() {
    GpuWithRdma gpu = new GpuWithRdma(fake);
    DirectAccess access = overUcx(gpu);
    assertThat(access.isOpen(memory, BYTES)).isTrue();
    assertThat(gpu.synced).containsExactly(memory);
    assertThat(access.isOpen(memory, BYTES + 1)).isFalse();
    gpu.capable = 0;
    assertThat(access.isOpen(memory, BYTES)).isFalse();
    gpu.capable = 1;
    gpu.context = CONTEXT + 1;
    assertThat(access.isOpen(memory, BYTES)).isFalse();
    gpu.context = CONTEXT;
    fake.cuCtxSetCurrent(CONTEXT + 1);
    assertThat(access.isOpen(memory, BYTES)).isFalse();
    fake.cuCtxSetCurrent(CONTEXT);
    assertThat(access.isOpen(memory, BYTES)).isTrue();
  }

  @Test
  void ucxReachesNoMemoryThatCameOtherwise() {
    fake.cuMemAlloc_v2(scratch.address(), BYTES); // as a pool's or a module's: not counted as plain
    long other = Memory.getLong(scratch.address());
    assertThat(overUcx(new GpuWithRdma(fake)).isOpen(other, BYTES)).isFalse();
    fake.cuMemFree_v2(other);
  }

  @Test
  void ucxReachesNothingMoreOnceItHasMissedAnEnd() {
    DirectAccess access = overUcx(new GpuWithRdma(fake));
    device.cuMemAlloc_v2(scratch.address(), BYTES);
    long second = Memory.getLong(scratch.address());
    device.cuMemFree_v2(second);
    assertThat(access.isOpen(memory, BYTES)).isTrue();
    device.cuMemAlloc_v2(scratch.address(), BYTES);
    device.forgetContext(CONTEXT);
    device.cuMemAlloc_v2(scratch.address(), BYTES);
    long third = Memory.getLong(scratch.address());
    assertThat(device.isPlain(third)).isFalse();
    assertThat(access.isOpen(third, BYTES)).isFalse();
    fake.cuMemFree_v2(third);
  }

  @Test
  void whatUcxWroteIsFlushedOnceWhereTheGpuKeepsNoOrder() {
    GpuWithRdma gpu = new GpuWithRdma(fake);
    gpu.ordering = 0;
    DirectAccess access = overUcx(gpu);
    assertThat(access.settle()).isZero();
    assertThat(gpu.flushes).isZero();
    access.destination(memory, false);
    access.destination(memory, false);
    assertThat(access.settle()).isZero();
    assertThat(access.settle()).isZero();
    assertThat(gpu.flushes).isOne();
  }

  @Test
  void nothingIsFlushedWhereTheGpuKeepsOrder() {
    GpuWithRdma gpu = new GpuWithRdma(fake);
    DirectAccess access = overUcx(gpu);
    access.destination(memory, false);
    assertThat(access.settle()).isZero();
    assertThat(gpu.flushes).isZero();
  }

  @Test
  void whereTheGpuKeepsNoOrderItIsFlushedBetweenTwoWritesToTheSameMemory() throws Exception {
    GpuWithRdma gpu = new GpuWithRdma(fake);
    reach(gpu).order();
    assertThat(gpu.flushes).isZero();
    gpu.ordering = 0;
    reach(gpu).order();
    assertThat(gpu.flushes).isOne();
  }
}

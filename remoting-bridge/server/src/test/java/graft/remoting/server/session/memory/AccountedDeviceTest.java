package graft.remoting.server.session.memory;

import static org.assertj.core.api.Assertions.assertThat;

import graft.remoting.device.CudaDevice;
import graft.remoting.device.CudaResult;
import graft.remoting.device.Memory;
import graft.remoting.server.system.Scratch;
import org.junit.jupiter.api.Test;

/** Physical memory is counted for as long as the driver keeps it. */
class AccountedDeviceTest {
  private static final long MIB = 1 << 20;
  private static final long ADDRESS = 0x7f0000000000L;
  private static final long CONTEXT = 0x5000;

  /** Accepts every call; its handles are 1, 2 and so on. */
  private static final class Willing implements CudaDevice {
    private long last;

    @Override
    public int cuMemCreate(long handle, long size, long prop, long flags) {
      Memory.putLong(handle, ++last);
      return CudaResult.SUCCESS;
    }

    @Override
    public int cuMemRelease(long handle) {
      return CudaResult.SUCCESS;
    }

    @Override
    public int cuMemMap(long ptr, long size, long offset, long handle, long flags) {
      return CudaResult.SUCCESS;
    }

    @Override
    public int cuMemUnmap(long ptr, long size) {
      return CudaResult.SUCCESS;
    }

    @Override
    public int cuCtxGetCurrent(long context) {
      Memory.putLong(context, CONTEXT);
      return CudaResult.SUCCESS;
    }

    @Override
    public int cuMemAlloc_v2(long pointer, long bytes) {
      Memory.putLong(pointer, ADDRESS + ++last);
      return CudaResult.SUCCESS;
    }

    @Override
    public int cuMemAllocAsync(long pointer, long bytes, long stream) {
      return cuMemAlloc_v2(pointer, bytes);
    }

    @Override
    public int cuMemFreeAsync(long pointer, long stream) {
      return CudaResult.SUCCESS;
    }

    @Override
    public int cuMemRetainAllocationHandle(long handle, long addr) {
      Memory.putLong(handle, last);
      return CudaResult.SUCCESS;
    }
  }

  private final AccountedDevice device =
      new AccountedDevice(new Willing(), MemoryLimit.of(4 * MIB));

  /** The result, or the handle if there is one. */
  private long create(long bytes) {
    try (Scratch handle = new Scratch(8)) {
      int code = device.cuMemCreate(handle.address(), bytes, 0, 0);
      return code == CudaResult.SUCCESS ? Memory.getLong(handle.address()) : -code;
    }
  }

  @Test
  void aHandleThatIsReleasedCountsWhileItsMemoryIsMapped() {
    long handle = create(3 * MIB);
    assertThat(device.cuMemMap(ADDRESS, 3 * MIB, 0, handle, 0)).isZero();
    assertThat(device.cuMemRelease(handle)).isZero();
    assertThat(device.used()).isEqualTo(3 * MIB);
    assertThat(create(3 * MIB)).isEqualTo(-CudaResult.OUT_OF_MEMORY);
    assertThat(device.cuMemUnmap(ADDRESS, 3 * MIB)).isZero();
    assertThat(device.used()).isZero();
  }

  @Test
  void unmappedMemoryCountsUntilItsHandleIsReleased() {
    long handle = create(MIB);
    device.cuMemMap(ADDRESS, MIB, 0, handle, 0);
    device.cuMemUnmap(ADDRESS, MIB);
    assertThat(device.used()).isEqualTo(MIB);
    device.cuMemRelease(handle);
    assertThat(device.used()).isZero();
  }

  /** Or a guest could get beyond its limit by contexts that it makes and destroys. */
  @Test
  void memoryOfAPoolCountsWhenItsContextIsGone() {
    try (Scratch pointer = new Scratch(16)) {
      assertThat(device.cuMemAlloc_v2(pointer.address(), MIB)).isZero();
      assertThat(device.cuMemAllocAsync(pointer.address() + 8, 2 * MIB, 0)).isZero();
      device.forgetContext(CONTEXT);
      assertThat(device.used()).isEqualTo(2 * MIB);
      assertThat(device.cuMemAllocAsync(pointer.address(), 3 * MIB, 0))
          .isEqualTo(CudaResult.OUT_OF_MEMORY);
      assertThat(device.cuMemFreeAsync(Memory.getLong(pointer.address() + 8), 0)).isZero();
      assertThat(device.used()).isZero();
    }
  }

  @Test
  void unmapsAllThatLiesWithin() {
    long one = create(MIB);
    long two = create(2 * MIB);
    device.cuMemMap(ADDRESS, MIB, 0, one, 0);
    device.cuMemMap(ADDRESS + MIB, 2 * MIB, 0, two, 0);
    device.cuMemRelease(one);
    device.cuMemRelease(two);
    device.cuMemUnmap(ADDRESS, 3 * MIB);
    assertThat(device.used()).isZero();
  }

  @Test
  void takesAnySize() {
    long handle = create(MIB);
    device.cuMemMap(ADDRESS, MIB, 0, handle, 0);
    device.cuMemRelease(handle);
    assertThat(device.cuMemUnmap(ADDRESS, -1)).isZero();
    assertThat(device.used()).isZero();
  }

  @Test
  void aRetainedHandleKeepsIt() {
    long handle = create(MIB);
    device.cuMemMap(ADDRESS, MIB, 0, handle, 0);
    try (Scratch again = new Scratch(8)) {
      device.cuMemRetainAllocationHandle(again.address(), ADDRESS);
    }
    device.cuMemRelease(handle);
    device.cuMemUnmap(ADDRESS, MIB);
    assertThat(device.used()).isEqualTo(MIB);
    device.cuMemRelease(handle);
    assertThat(device.used()).isZero();
  }
}

package graft.remoting.software;

import static org.assertj.core.api.Assertions.assertThat;

import graft.remoting.device.CudaResult;
import graft.remoting.software.memory.Native;
import graft.remoting.software.memory.VirtualMemory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Memory that a program maps itself, as PyTorch's expandable segments do. */
final class VirtualMemoryTest {
  private static final long G = VirtualMemory.GRANULARITY;
  private static final String FILL =
      """
      .version 7.8
      .target sm_75
      .address_size 64
      .visible .entry fill(.param .u64 to, .param .u32 value) {
        .reg .u64 %rd<4>;
        .reg .u32 %r<4>;
        ld.param.u64 %rd1, [to];
        ld.param.u32 %r1, [value];
        mov.u32 %r2, %tid.x;
        mul.wide.u32 %rd2, %r2, 4;
        add.u64 %rd3, %rd1, %rd2;
        add.u32 %r3, %r1, %r2;
        st.global.u32 [%rd3], %r3;
        ret;
      }
      """;

  private final TestDevice device = new TestDevice();

  @AfterEach
  void close() {
    device.close();
  }

  /** CUmemAllocationProp: pinned memory of device 0. */
  private long properties() {
    long properties = device.bytes(32);
    Native.UNSAFE.putInt(properties, 1);
    Native.UNSAFE.putInt(properties + 8, 1);
    return properties;
  }

  private long create(long bytes) {
    long handle = device.bytes(8);
    TestDevice.check(device.driver().cuMemCreate(handle, bytes, properties(), 0));
    return Native.UNSAFE.getLong(handle);
  }

  private long reserve(long bytes) {
    long address = device.bytes(8);
    TestDevice.check(device.driver().cuMemAddressReserve(address, bytes, 0, 0, 0));
    return Native.UNSAFE.getLong(address);
  }

  private int allow(long address, long bytes) {
    long descriptor = device.bytes(12);
    Native.UNSAFE.putInt(descriptor, 1);
    Native.UNSAFE.putInt(descriptor + 8, 3);
    return device.driver().cuMemSetAccess(address, bytes, descriptor, 1);
  }

  private void map(long address, long bytes, long handle) {
    TestDevice.check(device.driver().cuMemMap(address, bytes, 0, handle, 0));
    TestDevice.check(allow(address, bytes));
  }

  private int fill(long address, int threads, int value) {
    return device.run(device.function(device.load(FILL), "fill"), 1, threads, address, value);
  }

  @Test
  void memoryLiesAtSeveralAddressesAtOnce() {
    long handle = create(G);
    long range = reserve(2 * G);
    map(range, G, handle);
    map(range + G, G, handle);
    TestDevice.check(fill(range + 16, 4, 100));
    assertThat(device.download(range + G + 16, 4)).containsExactly(100, 101, 102, 103);
  }

  @Test
  void mappingsSideBySideAreOnePiece() {
    long range = reserve(4 * G);
    map(range, G, create(G));
    map(range + G, 2 * G, create(2 * G));
    TestDevice.check(fill(range + G - 8, 4, 7));
    assertThat(device.download(range + G - 8, 4)).containsExactly(7, 8, 9, 10);
    assertThat(device.driver().cuMemsetD8_v2(range + 3 * G - 1, (byte) 0, 2))
        .as("beyond the last one")
        .isEqualTo(CudaResult.INVALID_VALUE);
  }

  @Test
  void contentsStayWhileUnmapped() {
    long handle = create(G);
    long range = reserve(2 * G);
    map(range, G, handle);
    TestDevice.check(fill(range, 2, 5));
    TestDevice.check(device.driver().cuMemUnmap(range, G));
    map(range + G, G, handle);
    assertThat(device.download(range + G, 2)).containsExactly(5, 6);
  }

  @Test
  void memoryStaysUntilItIsUnmappedAndReleased() {
    long before = free();
    long handle = create(4 * G);
    assertThat(before - free()).isEqualTo(4 * G);
    long range = reserve(4 * G);
    map(range, 4 * G, handle);
    TestDevice.check(device.driver().cuMemRelease(handle));
    TestDevice.check(fill(range, 1, 1));
    assertThat(before - free()).isEqualTo(4 * G);
    assertThat(device.driver().cuMemAddressFree(range, 4 * G)).isEqualTo(CudaResult.INVALID_VALUE);
    TestDevice.check(device.driver().cuMemUnmap(range, 4 * G));
    TestDevice.check(device.driver().cuMemAddressFree(range, 4 * G));
    assertThat(free()).isEqualTo(before);
  }

  private long free() {
    long free = device.bytes(8);
    TestDevice.check(device.driver().cuMemGetInfo_v2(free, device.bytes(8)));
    return Native.UNSAFE.getLong(free);
  }

  @Test
  void moreThanTheDeviceHasIsRefused() {
    assertThat(device.driver().cuMemCreate(device.bytes(8), 1L << 40, properties(), 0))
        .isEqualTo(CudaResult.OUT_OF_MEMORY);
    assertThat(reserve(1L << 40)).as("addresses cost nothing").isNotZero();
  }

  @Test
  void withoutAccessAKernelFails() {
    long range = reserve(G);
    TestDevice.check(device.driver().cuMemMap(range, G, 0, create(G), 0));
    assertThat(device.driver().cuMemcpyDtoH_v2(device.bytes(4), range, 4))
        .as("a copy")
        .isEqualTo(CudaResult.INVALID_VALUE);
    assertThat(fill(range, 1, 1)).isEqualTo(CudaResult.ILLEGAL_ADDRESS);
  }

  @Test
  void takenOrUnreservedAddressesAreRefused() {
    long range = reserve(2 * G);
    map(range, 2 * G, create(2 * G));
    long handle = create(G);
    assertThat(device.driver().cuMemMap(range + G, G, 0, handle, 0))
        .isEqualTo(CudaResult.INVALID_VALUE);
    assertThat(device.driver().cuMemMap(range + 2 * G, G, 0, handle, 0))
        .isEqualTo(CudaResult.INVALID_VALUE);
    assertThat(device.driver().cuMemUnmap(range, G))
        .as("half of a mapping")
        .isEqualTo(CudaResult.INVALID_VALUE);
  }
}

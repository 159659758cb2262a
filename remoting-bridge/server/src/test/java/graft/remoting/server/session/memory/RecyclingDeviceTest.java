package graft.remoting.server.session.memory;

import static org.assertj.core.api.Assertions.assertThat;

import graft.remoting.device.CudaDevice;
import graft.remoting.device.CudaResult;
import graft.remoting.device.Memory;
import graft.remoting.server.system.Scratch;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class RecyclingDeviceTest {
  private static final int MIB = 1 << 20;
  private static final int FAILED = 700;

  /** A driver that counts calls; each allocation has an address of its own. */
  private static final class Driver implements CudaDevice {
    final List<Long> freed = new ArrayList<>();
    final Set<Long> live = new TreeSet<>();
    long context = 1;
    long free = 2L << 30;
    long all = 80L << 30;
    int query = CudaResult.SUCCESS;
    int captures;
    boolean isFull;
    final List<String> erasures = new ArrayList<>();
    int erased = CudaResult.SUCCESS;
    int busy;
    private long last = MIB;

    @Override
    public int cuMemAlloc_v2(long dptr, long bytes) {
      if (isFull && freed.isEmpty()) {
        return CudaResult.OUT_OF_MEMORY;
      }
      last += 1L << 32;
      live.add(last);
      Memory.putLong(dptr, last);
      return CudaResult.SUCCESS;
    }

    @Override
    public int cuMemFree_v2(long dptr) {
      freed.add(dptr);
      return live.remove(dptr) ? CudaResult.SUCCESS : CudaResult.INVALID_VALUE;
    }

    @Override
    public int cuCtxGetCurrent(long result) {
      Memory.putLong(result, context);
      return CudaResult.SUCCESS;
    }

    @Override
    public int cuMemGetInfo_v2(long freeAt, long total) {
      Memory.putLong(freeAt, free);
      Memory.putLong(total, all);
      return CudaResult.SUCCESS;
    }

    @Override
    public int cuStreamIsCapturing(long stream, long status) {
      Memory.putInt(status, captures);
      return CudaResult.SUCCESS;
    }

    @Override
    public int cuStreamCreate(long stream, int flags) {
      Memory.putLong(stream, 0x5000 + context);
      erasures.add("create");
      return CudaResult.SUCCESS;
    }

    @Override
    public int cuStreamDestroy_v2(long stream) {
      erasures.add("destroy");
      return CudaResult.SUCCESS;
    }

    @Override
    public int cuMemsetD8Async(long address, int value, long bytes, long stream) {
      assertThat(stream).isEqualTo(0x5000 + context);
      erasures.add(value + " to " + bytes + " bytes at " + address);
      return erased;
    }

    @Override
    public int cuStreamQuery(long stream) {
      if (stream != 0) {
        assertThat(stream).isEqualTo(0x5000 + context);
        erasures.add("query");
        return busy-- > 0 ? CudaResult.NOT_READY : CudaResult.SUCCESS;
      }

      assertThat(captures).as("a query would end the capture").isZero();
      return query;
    }
  }

  private final Driver driver = new Driver();
  private final Scratch scratch = new Scratch(64);
  private boolean isOver = true;
  private long now;
  private long step;
  private long room = Long.MAX_VALUE;
  private final RecyclingDevice device =
      new RecyclingDevice(driver, () -> isOver, bytes -> bytes <= room, () -> now += step);

  @AfterEach
  void close() {
    scratch.close();
  }

  private long allocate(long bytes) {
    assertThat(device.cuMemAlloc_v2(scratch.address(), bytes)).isEqualTo(CudaResult.SUCCESS);
    return Memory.getLong(scratch.address());
  }

  private void free(long address) {
    assertThat(device.cuMemFree_v2(address)).isEqualTo(CudaResult.SUCCESS);
  }

  private long keepOne() {
    long address = allocate(MIB);
    free(address);
    assertThat(driver.freed).isEmpty();
    return address;
  }

  @Test
  void memoryOfTheSameSizeIsGivenAgain() {
    long first = keepOne();
    assertThat(allocate(MIB)).isEqualTo(first);
    assertThat(allocate(MIB)).isNotEqualTo(first);
    free(first);
    assertThat(allocate(MIB - 1)).isNotEqualTo(first);
    assertThat(allocate(MIB)).isEqualTo(first);
    assertThat(driver.freed).isEmpty();
  }

  @Test
  void memoryThatIsGivenAgainIsZero() {
    long first = keepOne();
    assertThat(driver.erasures).containsExactly("create", "0 to " + MIB + " bytes at " + first);
    driver.erasures.clear();
    assertThat(allocate(MIB)).isEqualTo(first);
    assertThat(driver.erasures).containsExactly("query");
  }

  @Test
  void itIsWaitedForAMomentUntilMemoryIsErased() {
    long first = keepOne();
    driver.busy = 3;
    assertThat(allocate(MIB)).isEqualTo(first);
    free(first);
    driver.busy = Integer.MAX_VALUE;
    step = 10_000;
    assertThat(allocate(MIB)).isNotEqualTo(first);
  }

  @Test
  void memoryThatCannotBeErasedIsFreedByTheDriver() {
    driver.erased = FAILED;
    long first = allocate(MIB);
    free(first);
    assertThat(driver.freed).containsExactly(first);
  }

  @Test
  void theStreamOfAContextEndsBeforeIt() {
    keepOne();
    driver.erasures.clear();
    device.cuCtxDestroy_v2(driver.context);
    assertThat(driver.erasures).containsExactly("destroy");
  }

  @Test
  void theExecutorFreesWhatIsKeptBeforeItSleeps() {
    long first = keepOne();
    device.release();
    assertThat(driver.freed).containsExactly(first);
    device.release();
    assertThat(driver.freed).hasSize(1);
    assertThat(allocate(MIB)).isNotEqualTo(first);
  }

  @Test
  void memoryThatWorkMayStillUseIsFreedByTheDriver() {
    long first = allocate(MIB);
    isOver = false;
    free(first);
    assertThat(driver.freed).containsExactly(first);
  }

  @Test
  void anotherContextGetsMemoryOfItsOwn() {
    long first = keepOne();
    driver.context = 2;
    long second = allocate(MIB);
    assertThat(second).isNotEqualTo(first);
    driver.context = 1;
    free(second);
    assertThat(driver.freed).containsExactly(second);
  }

  @Test
  void aFaultAndACaptureAreTheDriversToAnswer() {
    long first = keepOne();
    driver.query = FAILED;
    assertThat(allocate(MIB)).isNotEqualTo(first);
    driver.query = CudaResult.NOT_READY;
    driver.captures = 1;
    assertThat(allocate(MIB)).isNotEqualTo(first);
    driver.captures = 0;
    assertThat(allocate(MIB)).isEqualTo(first);
  }

  @Test
  void memoryThatIsKeptMakesNoAllocationFail() {
    long first = keepOne();
    driver.isFull = true;
    assertThat(allocate(2 * MIB)).isNotEqualTo(first);
    assertThat(driver.freed).containsExactly(first);
  }

  @Test
  void littleIsKeptAndNothingWhenTheDeviceIsAlmostFull() {
    long[] blocks = new long[40];
    for (int i = 0; i < blocks.length; i++) {
      blocks[i] = allocate(MIB);
    }
    for (long block : blocks) {
      free(block);
    }
    assertThat(driver.live).hasSize(16);
    device.release();
    long large = allocate(200L * MIB);
    long other = allocate(100L * MIB);
    free(large);
    free(other);
    assertThat(driver.live).containsExactly(large);
    device.release();
    free(allocate(257L * MIB));
    assertThat(driver.live).isEmpty();
    driver.free = 1L << 29;
    now += 1_000_000_000;
    free(allocate(MIB));
    assertThat(driver.live).isEmpty();
    driver.all = 1L << 30; // of a small device half is ample
    now += 1_000_000_000;
    free(allocate(MIB));
    assertThat(driver.live).hasSize(1);
  }

  @Test
  void whatIsKeptIsWithinTheSessionsLimits() {
    long first = allocate(MIB);
    long second = allocate(MIB);
    room = MIB - 1; // beside what is counted
    free(first);
    free(second);
    assertThat(driver.live).containsExactly(first);
    room = 2 * MIB;
    allocate(MIB / 2);
    assertThat(driver.live).contains(first);
    allocate(MIB + 1);
    assertThat(driver.live).doesNotContain(first);
  }

  @Test
  void anotherDeviceIsAskedForItsOwnMemory() {
    keepOne();
    driver.context = 2;
    driver.free = 1L << 29;
    free(allocate(MIB));
    assertThat(driver.freed).hasSize(1);
  }

  @Test
  void queriesSeeThatMemoryIsFree() {
    long first = keepOne();
    assertThat(device.cuMemGetInfo_v2(scratch.address(), scratch.address() + 8)).isZero();
    assertThat(driver.freed).containsExactly(first);
    long second = allocate(MIB);
    free(second);
    device.cuPointerGetAttribute(scratch.address(), 1, second + MIB);
    assertThat(driver.live).containsExactly(second);
    device.cuPointerGetAttribute(scratch.address(), 1, second + MIB - 1);
    assertThat(driver.live).isEmpty();
  }

  @Test
  void memoryThatOthersUseOrThatEndsOtherwiseIsNotKept() {
    long first = allocate(MIB);
    device.cuIpcGetMemHandle(scratch.address(), first);
    free(first);
    assertThat(driver.freed).containsExactly(first);
    long second = allocate(MIB);
    device.cuMemFreeAsync(second, 0);
    device.cuMemFree_v2(second);
    assertThat(driver.freed).endsWith(second);
    long third = allocate(MIB);
    device.cuCtxDestroy_v2(driver.context);
    device.cuMemFree_v2(third);
    assertThat(driver.freed).endsWith(third);
  }

  /** Everything else that allocates memory of the device. */
  static Stream<Method> allocators() {
    Set<String> names =
        Set.of(
            "cuMemAllocPitch_v2",
            "cuMemAllocAsync",
            "cuMemAllocFromPoolAsync",
            "cuMemCreate",
            "cuArrayCreate_v2",
            "cuArray3DCreate_v2",
            "cuMipmappedArrayCreate",
            "cuDevicePrimaryCtxRelease_v2",
            "cuDevicePrimaryCtxReset_v2",
            "cuCtxDestroy_v2");
    return Arrays.stream(CudaDevice.class.getMethods()).filter(m -> names.contains(m.getName()));
  }

  @ParameterizedTest
  @MethodSource("allocators")
  void nothingIsKeptWhileOtherMemoryIsAllocatedOrAContextEnds(Method call) throws Exception {
    long first = keepOne();
    Object[] arguments =
        Arrays.stream(call.getParameterTypes())
            .map(type -> type == int.class ? (Object) 0 : (Object) 0L)
            .toArray();
    call.invoke(device, arguments);
    assertThat(driver.freed).containsExactly(first);
  }
}

package graft.remoting.software;

import static org.assertj.core.api.Assertions.assertThat;

import graft.remoting.device.CudaResult;
import graft.remoting.software.memory.Native;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Copies, fills and kernels access only device memory and registered memory, whatever addresses and
 * sizes they name. This process' own memory stands for memory that they must not access.
 */
final class HostileAddressesTest {
  private static final int ILLEGAL_ADDRESS = 700;
  private static final long PATTERN = 0x0123_4567_89ab_cdefL;
  private static final long GRANULE = 2 << 20;

  private TestDevice device;
  private SoftwareDevice driver;
  private long secret;
  private long mine;

  @BeforeEach
  void open() {
    device = new TestDevice();
    driver = device.driver();
    secret = device.bytes(4096);
    for (long at = 0; at < 4096; at += 8) {
      Native.UNSAFE.putLong(secret + at, PATTERN);
    }
    mine = device.allocate(4096);
  }

  @AfterEach
  void nothingWasTouched() {
    for (long at = 0; at < 4096; at += 8) {
      assertThat(Native.UNSAFE.getLong(secret + at)).isEqualTo(PATTERN);
    }
    device.close();
  }

  private static void refused(int result) {
    assertThat(result).isEqualTo(CudaResult.INVALID_VALUE);
  }

  @Test
  void aFillsSizeDoesNotOverflow() {
    refused(driver.cuMemsetD32_v2(mine, 1, 1L << 62));
    refused(driver.cuMemsetD16_v2(mine, 1, (1L << 63) + 8));
    refused(driver.cuMemsetD8_v2(mine, 1, -1));
    refused(driver.cuMemsetD8_v2(mine, 1, Long.MAX_VALUE));
    refused(driver.cuMemsetD2D32_v2(mine, 4, 1, 1L << 62, 1));
  }

  /** With a pitch like this, the second row would be at any address. */
  @Test
  void aFillsRowsStayInItsAllocation() {
    refused(driver.cuMemsetD2D8_v2(mine, secret - mine, 0, 16, 2));
    refused(driver.cuMemsetD2D8_v2(mine, mine - secret, 0, 16, 2));
    refused(driver.cuMemsetD2D8_v2(mine, -64, 0, 64, 3));
    refused(driver.cuMemsetD2D8_v2(mine, 1L << 62, 0, 16, 5));
    TestDevice.check(driver.cuMemsetD2D8_v2(mine, 64, 0, 64, 64));
    refused(driver.cuMemsetD2D8_v2(mine, 64, 0, 65, 64));
  }

  @Test
  void aRangeThatWrapsAroundIsInNoAllocation() {
    long host = device.bytes(64);
    for (long bytes : new long[] {Long.MAX_VALUE, Long.MAX_VALUE - mine, -1, -mine, 4097}) {
      refused(driver.cuMemcpyDtoH_v2(host, mine, bytes));
      refused(driver.cuMemcpyHtoD_v2(mine, host, bytes));
      refused(driver.cuMemcpyDtoD_v2(mine, mine, bytes));
    }
    for (long address : new long[] {secret, mine - 1, mine + 4095, -1, -8, Long.MIN_VALUE, 8}) {
      refused(driver.cuMemcpyDtoH_v2(host, address, 2));
      refused(driver.cuMemsetD8_v2(address, 0, 2));
    }
    for (long address : new long[] {secret, mine + 4096, mine + 1, -8, Long.MIN_VALUE}) {
      refused(driver.cuStreamWriteValue64_v2(0, address, 1, 0));
      refused(driver.cuStreamWaitValue32_v2(0, address, 1, 0));
    }
  }

  /** CUDA_MEMCPY3D with a device source, copied to itself. */
  private long copy(long[] origin, long pitch, long height, long[] extent) {
    long p = device.bytes(200);
    for (int side : new int[] {0, 88}) {
      for (int i = 0; i < 3; i++) {
        Native.UNSAFE.putLong(p + side + 8L * i, side == 0 ? origin[i] : 0);
        Native.UNSAFE.putLong(p + 176 + 8L * i, extent[i]);
      }
      Native.UNSAFE.putInt(p + side + 32, 2);
      Native.UNSAFE.putLong(p + side + 48, mine);
      Native.UNSAFE.putLong(p + side + 72, side == 0 ? pitch : extent[0]);
      Native.UNSAFE.putLong(p + side + 80, side == 0 ? height : extent[1]);
    }
    return p;
  }

  @Test
  void aBoxStaysInItsAllocation() {
    long[] one = {8, 1, 1};
    long[] nowhere = {0, 0, 0};
    TestDevice.check(driver.cuMemcpy3D_v2(copy(nowhere, 8, 1, one)));
    refused(driver.cuMemcpy3D_v2(copy(new long[] {secret - mine, 0, 0}, 8, 1, one)));
    refused(driver.cuMemcpy3D_v2(copy(new long[] {0, 1, 0}, secret - mine, 1, one)));
    refused(driver.cuMemcpy3D_v2(copy(new long[] {0, 1, 0}, mine - secret, 1, one)));
    refused(driver.cuMemcpy3D_v2(copy(new long[] {0, 0, 1}, 8, (secret - mine) / 8, one)));
    refused(driver.cuMemcpy3D_v2(copy(nowhere, 1L << 61, 8, new long[] {8, 9, 1})));
    refused(driver.cuMemcpy3D_v2(copy(nowhere, 8, 1L << 61, new long[] {8, 1, 2})));
    refused(driver.cuMemcpy3D_v2(copy(nowhere, 8, 1, new long[] {8, 1, -1})));
  }

  @Test
  void anArraysSizeDoesNotOverflow() {
    long array = device.bytes(8);
    long descriptor = device.bytes(40);
    for (int i = 0; i < 3; i++) {
      Native.UNSAFE.putLong(descriptor + 8L * i, 1L << 21);
    }
    Native.UNSAFE.putInt(descriptor + 24, 1);
    Native.UNSAFE.putInt(descriptor + 28, 2);
    refused(driver.cuArray3DCreate_v2(array, descriptor));
  }

  private static final String PTX =
      """
      .version 8.0
      .target sm_80
      .address_size 64
      .extern .func free(.param .b64 p);
      .visible .entry release(.param .u64 at) {
        .reg .u64 %rd1;
        .param .b64 p;
        ld.param.u64 %rd1, [at];
        st.param.b64 [p], %rd1;
        call.uni free, (p);
        ret;
      }
      """;

  private static String access(String name, String instruction) {
    return """
        .visible .entry %s(.param .u64 at) {
          .reg .u64 %%rd<3>; .reg .u32 %%r<2>;
          ld.param.u64 %%rd1, [at];
          cvt.u32.u64 %%r1, %%rd1;
          %s
          ret;
        }
        """
        .formatted(name, instruction);
  }

  private static final List<String> ACCESSES =
      List.of(
          "ld.global.u64 %rd2, [%rd1];",
          "st.global.u64 [%rd1], 0;",
          "ld.u64 %rd2, [%rd1];",
          "st.u64 [%rd1], 0;",
          "ld.const.u64 %rd2, [%rd1];",
          "ld.local.u64 %rd2, [%rd1];",
          "st.local.u64 [%rd1], 0;",
          "ld.shared.u64 %rd2, [%r1];",
          "st.shared.u64 [%r1], 0;",
          "ld.volatile.global.u64 %rd2, [%rd1];",
          "atom.global.add.u64 %rd2, [%rd1], 1;",
          "atom.exch.b64 %rd2, [%rd1], 0;",
          "red.add.u64 [%rd1], 1;");

  /** Addresses at the end of its memory, far from it, and where sums with them overflow. */
  @Test
  void kernelsReachNothingOfTheirProcess() {
    StringBuilder ptx = new StringBuilder(PTX);
    for (int i = 0; i < ACCESSES.size(); i++) {
      ptx.append(access("access" + i, ACCESSES.get(i)));
    }
    long[] hostile = {
      0, 8, secret, mine + (1L << 30), 1L << 46, 1L << 47, Long.MAX_VALUE - 7, Long.MIN_VALUE, -8
    };
    for (int i = 0; i < ACCESSES.size(); i++) {
      for (long address : hostile) {
        boolean isShared = ACCESSES.get(i).contains("shared");
        long at = isShared && (int) address >= 0 ? 1 << 20 : address;
        try (TestDevice own = new TestDevice()) {
          long kernel = own.function(own.load(ptx.toString()), "access" + i);
          assertThat(own.run(kernel, 1, 1, at))
              .as("%s at 0x%x", ACCESSES.get(i), at)
              .isEqualTo(ILLEGAL_ADDRESS);
        }
      }
    }
  }

  /**
   * The program's own memory, another process' memory and a mapping: none of them came from malloc.
   */
  @Test
  void kernelsFreeOnlyWhatTheyAllocated() {
    long out = device.bytes(8);
    TestDevice.check(driver.cuMemAddressReserve(out, GRANULE, 0, 0, 0));
    long range = Native.UNSAFE.getLong(out);
    long properties = device.bytes(32);
    Native.UNSAFE.putInt(properties, 1);
    Native.UNSAFE.putInt(properties + 8, 1);
    TestDevice.check(driver.cuMemCreate(out, GRANULE, properties, 0));
    TestDevice.check(driver.cuMemMap(range, GRANULE, 0, Native.UNSAFE.getLong(out), 0));
    long access = device.bytes(12);
    Native.UNSAFE.putInt(access, 1);
    Native.UNSAFE.putInt(access + 8, 3);
    TestDevice.check(driver.cuMemSetAccess(range, GRANULE, access, 1));
    assertThat(device.run(device.function(device.load(PTX), "release"), 1, 1, range))
        .isEqualTo(719);
  }

  /** A graph keeps addresses; the memory at them may later belong to something else. */
  @Test
  void graphsDoNotTouchWhatWasUnmapped() {
    long out = device.bytes(8);
    TestDevice.check(driver.cuMemHostRegister_v2(secret, 4096, 3));
    TestDevice.check(driver.cuGraphCreate(out, 0));
    long graph = Native.UNSAFE.getLong(out);
    long node = device.bytes(256);
    Native.UNSAFE.putInt(node, 1);
    Native.UNSAFE.copyMemory(copy(new long[3], 8, 1, new long[] {8, 1, 1}), node + 32, 200);
    Native.UNSAFE.putLong(node + 32 + 136, secret);
    TestDevice.check(driver.cuGraphAddNode_v2(out, graph, 0, 0, 0, node));
    TestDevice.check(driver.cuGraphInstantiateWithFlags(out, graph, 0));
    long exec = Native.UNSAFE.getLong(out);
    TestDevice.check(driver.cuMemHostUnregister(secret));
    TestDevice.check(driver.cuGraphLaunch(exec, 0));
    assertThat(driver.cuCtxSynchronize()).isEqualTo(ILLEGAL_ADDRESS);
  }

  @Test
  void aVariableHasNoMoreInitialValuesThanRoom() {
    long module = device.bytes(8);
    String head = ".version 8.0\n.target sm_80\n.address_size 64\n";
    for (String ptx :
        List.of(
            ".extern .global .b64 x[1]; .global .b64 x[3] = {1, 2, 3};",
            ".visible .entry k(.param .b8 p[2147483647], .param .b8 q[2147483647]) { ret; }",
            ".func f(.param .b8 p[2147483632], .param .b8 q[2147483632]) { ret; }\n"
                + ".visible .entry k() {\n"
                + ".param .b8 a[2147483632]; .param .b8 b[2147483632]; .reg .u64 %rd1;\n"
                + "st.param.b64 [a+2147480000], 0; call.uni f, (a, b); ret; }")) {
      assertThat(driver.cuModuleLoadData(module, device.text(head + ptx))).as(ptx).isNotZero();
    }
  }

  /** A callee may declare more parameters than its caller passes. */
  @Test
  void aCalleeReadsNothingBehindLocalMemory() {
    String ptx =
        """
        .version 8.0
        .target sm_80
        .address_size 64
        .func greedy(.param .b8 p[500000]) {
          .reg .u64 %rd1;
          ld.param.b64 %rd1, [p+499992];
          st.param.b64 [p+499984], %rd1;
          ret;
        }
        .visible .entry kernel(.param .u64 at) {
          .param .b64 p;
          st.param.b64 [p], 0;
          call.uni greedy, (p);
          ret;
        }
        """;
    long kernel = device.function(device.load(ptx), "kernel");
    for (int i = 0; i < 20; i++) {
      TestDevice.check(device.run(kernel, 1, 1, 0L));
    }
  }

  /** A condition's handle is an address, which a kernel may make up. */
  @Test
  void aConditionOutsideOfDeviceMemoryIsAFault() {
    long module =
        device.load(
            """
            .version 8.3
            .target sm_75
            .address_size 64
            .extern .func cudaGraphSetConditional(.param .b64 handle, .param .b32 value);
            .visible .entry set(.param .u64 handle) {
              .reg .b64 %h; .reg .b32 %v;
              ld.param.u64 %h, [handle]; mov.u32 %v, 1;
              { .param .b64 h; st.param.b64 [h], %h; .param .b32 w; st.param.b32 [w], %v;
                call.uni cudaGraphSetConditional, (h, w); }
              ret;
            }
            """);
    assertThat(device.run(device.function(module, "set"), 1, 1, mine)).isZero();
    assertThat(device.run(device.function(module, "set"), 1, 1, secret)).isEqualTo(ILLEGAL_ADDRESS);
  }
}

package graft.remoting.software.image;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import graft.remoting.software.TestDevice;
import graft.remoting.software.memory.Native;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Several images that {@code nvcc -rdc=true} leaves to be linked. */
final class LinkTest {
  private static final String HEAD = ".version 8.0\n.target sm_75\n.address_size 64\n";
  private static final String CALLER =
      HEAD
          + ".extern .func (.param .b32 r) twice (.param .b32 x);\n"
          + ".extern .global .align 4 .u32 base;\n"
          + ".visible .entry k(.param .u64 out) {\n"
          + "  .reg .u64 %rd1; .reg .u32 %r<3>; .param .b32 p; .param .b32 q;\n"
          + "  ld.param.u64 %rd1, [out]; st.param.b32 [p], 21;\n"
          + "  call (q), twice, (p);\n"
          + "  ld.param.b32 %r1, [q]; ld.global.u32 %r2, [base]; add.u32 %r1, %r1, %r2;\n"
          + "  st.global.u32 [%rd1], %r1; ret;\n}\n";
  private static final String CALLED =
      HEAD
          + ".visible .global .align 4 .u32 base = 5;\n"
          + ".visible .func (.param .b32 r) twice (.param .b32 x) {\n"
          + "  .reg .u32 %r1; ld.param.b32 %r1, [x]; shl.b32 %r1, %r1, 1;\n"
          + "  st.param.b32 [r], %r1; ret;\n}\n";

  private final TestDevice device = new TestDevice();
  private final List<Long> memory = new ArrayList<>();

  @AfterEach
  void free() {
    memory.forEach(Native.UNSAFE::freeMemory);
    device.close();
  }

  private long memory(long bytes) {
    long address = Native.UNSAFE.allocateMemory(bytes);
    Native.UNSAFE.setMemory(address, bytes, (byte) 0);
    memory.add(address);
    return address;
  }

  /** A fat binary with nothing in it that the software device runs. */
  private long machineCode() {
    long image = memory(16 + 80);
    Native.UNSAFE.putInt(image, 0xBA55ED50);
    Native.UNSAFE.putShort(image + 4, (short) 1);
    Native.UNSAFE.putShort(image + 6, (short) 16);
    Native.UNSAFE.putLong(image + 8, 80);
    Native.UNSAFE.putShort(image + 16, (short) 2);
    Native.UNSAFE.putInt(image + 16 + 4, 80);
    Native.UNSAFE.putInt(image + 16 + 28, 90);
    return image;
  }

  /**
   * What nvcc's device linker makes when all is left to the driver: a fat binary without entries.
   */
  private long nothing() {
    long image = memory(16);
    Native.UNSAFE.putInt(image, 0xBA55ED50);
    Native.UNSAFE.putShort(image + 4, (short) 1);
    Native.UNSAFE.putShort(image + 6, (short) 16);
    return image;
  }

  private long wrapper(long... images) {
    long list = memory(8L * (images.length + 1));
    for (int i = 0; i < images.length; i++) {
      Native.UNSAFE.putLong(list + 8L * i, images[i]);
    }
    long wrapper = memory(24);
    Native.UNSAFE.putInt(wrapper, 0x466243B1);
    Native.UNSAFE.putInt(wrapper + 4, 2);
    Native.UNSAFE.putLong(wrapper + 8, nothing());
    Native.UNSAFE.putLong(wrapper + 16, list);
    return wrapper;
  }

  @Test
  void aKernelCallsAFunctionAndReadsAVariableOfAnotherFile() {
    long wrapper = wrapper(device.text(CALLER), machineCode(), device.text(CALLED));
    long out = device.allocate(4);
    long kernel = device.function(device.load(Image.ptx(wrapper, 90)), "k");
    TestDevice.check(device.run(kernel, 1, 1, out));
    assertThat(device.download(out, 1)).containsExactly(47);
  }

  @Test
  void imagesWithoutPtxAloneAreNoCodeForTheDevice() {
    assertThatThrownBy(() -> Image.ptx(wrapper(machineCode()), 90))
        .isInstanceOfSatisfying(
            ImageException.class,
            e -> assertThat(e.code()).isEqualTo(ImageException.NO_BINARY_FOR_GPU));
  }

  @Test
  void noImageAtAllIsAModuleWithoutKernels() {
    assertThat(Image.ptx(wrapper(), 90)).startsWith(".version").doesNotContain(".entry");
  }
}

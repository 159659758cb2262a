package graft.remoting.software.codegen;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import graft.remoting.software.TestDevice;
import graft.remoting.software.exec.KernelCode;
import graft.remoting.software.lowering.Program;
import graft.remoting.software.lowering.SyncAnalysis;
import graft.remoting.software.memory.DeviceMemory;
import graft.remoting.software.module.CompiledModule;
import graft.remoting.software.module.LoadedModule;
import graft.remoting.software.ptx.PtxException;
import graft.remoting.software.ptx.PtxModule;
import graft.remoting.software.ptx.PtxParser;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The class that a kernel is compiled to, and its results. */
final class KernelCompilerTest {
  private static final String HEAD = ".version 8.0\n.target sm_75\n.address_size 64\n";

  /** A kernel whose thread {@code %t} stores %r0 at {@code [%o]}, its position in the output. */
  private static String kernel(String body) {
    return ".visible .entry k(.param .u64 out, .param .u64 in) {\n"
        + ".reg .pred %p<4>; .reg .b32 %r<8>, %t; .reg .b64 %l<8>, %o, %in; .reg .f32 %f<4>;"
        + " .reg .f64 %d<4>;\n"
        + "mov.u32 %t, %tid.x; ld.param.u64 %o, [out]; ld.param.u64 %in, [in];"
        + " mul.wide.u32 %l0, %t, 4; add.u64 %o, %o, %l0; add.u64 %in, %in, %l0;\n"
        + body
        + "\nst.global.u32 [%o], %r0;\nret;\n}\n";
  }

  private static KernelCode compile(String ptx) {
    PtxModule module = PtxParser.parse(HEAD + ptx);
    Program p = Program.lower(module, new SyncAnalysis(module), module.functions().get("k"));
    return KernelCompiler.compile(p, Map.of());
  }

  private static long regions(KernelCode code) {
    return Arrays.stream(code.getClass().getDeclaredMethods())
        .map(Method::getName)
        .filter(n -> n.startsWith("region"))
        .distinct()
        .count();
  }

  /** Runs the kernel with one block and returns its output. */
  private static int[] run(String ptx, int threads, int... in) {
    try (TestDevice device = new TestDevice()) {
      long out = device.allocate(4L * threads);
      long function = device.function(device.load(HEAD + ptx), "k");
      TestDevice.check(device.run(function, 1, threads, out, device.upload(in)));
      return device.download(out, threads);
    }
  }

  @ParameterizedTest
  @ValueSource(
      ints = {
        0, 1, -1, 5, 6, 127, 128, -128, -129, 32767, 32768, -32768, -32769, 1 << 31, -1 >>> 1
      })
  void constantsKeepTheirValue(int value) {
    assertThat(run(kernel("mov.u32 %r0, " + value + ";"), 1)).containsExactly(value);
    assertThat(run(kernel("mov.u64 %l1, " + (long) value * 3 + "; cvt.u32.u64 %r0, %l1;"), 1))
        .containsExactly(value * 3);
  }

  @ParameterizedTest
  @CsvSource({"0f00000000", "0f80000000", "0f3F800000", "0f7F800001", "0fFFC12345", "0f00000001"})
  void constantsOfFloatsKeepTheirBits(String bits) {
    assertThat(run(kernel("mov.f32 %f0, " + bits + "; mov.b32 %r0, %f0;"), 1))
        .containsExactly(Integer.parseUnsignedInt(bits.substring(2), 16));
  }

  @Test
  void eachThreadGoesItsOwnWay() {
    String body =
        """
        mov.u32 %r0, 0; mov.u32 %r1, %t;
        LOOP: setp.eq.u32 %p0, %r1, 0; @%p0 bra DONE;
        add.u32 %r0, %r0, %r1; sub.u32 %r1, %r1, 1; bra LOOP;
        DONE: and.b32 %r2, %t, 1; setp.eq.u32 %p1, %r2, 0; @%p1 neg.s32 %r0, %r0;
        """;
    int[] expected = new int[40];
    for (int t = 0; t < expected.length; t++) {
      expected[t] = t * (t + 1) / 2 * (t % 2 == 0 ? -1 : 1);
    }
    assertThat(run(kernel(body), expected.length)).containsExactly(expected);
  }

  @Test
  void branchesByIndex() {
    String body =
        """
        WAYS: .branchtargets A, B, C;
        brx.idx %t, WAYS;
        A: mov.u32 %r0, 10; bra END;
        B: mov.u32 %r0, 20; bra END;
        C: mov.u32 %r0, 30;
        END:
        """;
    assertThat(run(kernel(body), 3)).containsExactly(10, 20, 30);
  }

  @Test
  void codeWithoutBarriersIsOneMethod() {
    assertThat(regions(compile(kernel("ld.global.u32 %r0, [%in];")))).isEqualTo(1);
  }

  /**
   * Registers of every kind keep their values while other threads of the block arrive at the
   * barrier.
   */
  @Test
  void loopsGoOnAfterABarrierWithTheirRegisters() {
    String body =
        """
        .shared .align 4 .b8 row[256];
        mov.u32 %r1, row; shl.b32 %r2, %t, 2; add.u32 %r2, %r1, %r2;
        mov.u32 %r3, %ntid.x; sub.u32 %r3, %r3, 1; sub.u32 %r3, %r3, %t;
        shl.b32 %r3, %r3, 2; add.u32 %r3, %r1, %r3;
        ld.global.u32 %r0, [%in]; mov.u32 %r4, 0;
        cvt.u64.u32 %l1, %t; cvt.rn.f32.u32 %f1, %t; cvt.rn.f64.u32 %d1, %t;
        setp.gt.u32 %p1, %t, 7;
        AGAIN:
        st.shared.u32 [%r2], %r0; bar.sync 0;
        ld.shared.u32 %r5, [%r3]; bar.sync 0;
        shl.b32 %r0, %r0, 1; add.u32 %r0, %r0, %r5;
        add.u64 %l1, %l1, %l1; add.f32 %f1, %f1, %f1; add.f64 %d1, %d1, %d1;
        add.u32 %r4, %r4, 1; setp.lt.u32 %p0, %r4, 5; @%p0 bra AGAIN;
        cvt.u32.u64 %r6, %l1; add.u32 %r0, %r0, %r6;
        cvt.rzi.u32.f32 %r6, %f1; add.u32 %r0, %r0, %r6;
        cvt.rzi.u32.f64 %r6, %d1; add.u32 %r0, %r0, %r6;
        @%p1 add.u32 %r0, %r0, 1000000;
        """;
    int threads = 64;
    int[] in = new int[threads];
    for (int t = 0; t < threads; t++) {
      in[t] = t * t + 1;
    }
    int[] now = in.clone();
    for (int round = 0; round < 5; round++) {
      int[] before = now.clone();
      for (int t = 0; t < threads; t++) {
        now[t] = 2 * before[t] + before[threads - 1 - t];
      }
    }
    for (int t = 0; t < threads; t++) {
      now[t] += 3 * 32 * t + (t > 7 ? 1000000 : 0);
    }
    assertThat(run(kernel(body), threads, in)).containsExactly(now);
    assertThat(regions(compile(kernel(body)))).as("one for each place to go on at").isEqualTo(3);
  }

  /** A Java method has at most 64 KiB of code, and HotSpot compiles none over 8,000 bytes. */
  @Test
  void longKernelsAreSeveralMethods() {
    StringBuilder body = new StringBuilder("ld.global.u32 %r0, [%in];\n");
    int expected = 17;
    for (int i = 0; i < 20_000; i++) {
      body.append("mad.lo.u32 %r0, %r0, 3, ").append(i).append(";\n");
      expected = expected * 3 + i;
    }
    assertThat(run(kernel(body.toString()), 1, 17)).containsExactly(expected);
    assertThat(regions(compile(kernel(body.toString())))).isGreaterThan(20);
  }

  private static String function(int additions) {
    return ".func (.param .b32 r) f(.param .b32 a) {\n.reg .b32 %x, %y; .reg .pred %p;"
        + " .param .b32 in; .param .b32 out;\n"
        + "ld.param.b32 %x, [a]; setp.eq.u32 %p, %x, 0; mov.u32 %y, 0; @%p bra END;\n"
        + "sub.u32 %y, %x, 1; st.param.b32 [in], %y; call (out), f, (in);"
        + " ld.param.b32 %y, [out];\n"
        + "add.u32 %y, %y, %x;\n".repeat(additions)
        + "END: st.param.b32 [r], %y; ret;\n}\n";
  }

  private static final String CALL =
      "{ .param .b32 in; .param .b32 out; st.param.b32 [in], %t; call (out), f, (in);"
          + " ld.param.b32 %r0, [out]; }";

  @Test
  void functionsCallThemselves() {
    assertThat(run(function(1) + kernel(CALL), 6)).containsExactly(0, 1, 3, 6, 10, 15);
  }

  /** Such a function can neither be divided, as a kernel can, nor inlined. */
  @Test
  void aFunctionTooLongForAMethodIsRefused() {
    assertThatThrownBy(() -> compile("\n" + function(20_000) + kernel(CALL)))
        .isInstanceOfSatisfying(
            PtxException.class,
            e -> {
              assertThat(e.isUnsupported()).isTrue();
              assertThat(e.line()).isEqualTo(5);
            })
        .hasMessageContaining("function 'f'")
        .hasMessageContaining("64 KiB");
  }

  @Test
  void aLaunchOfWhatIsTooLongSaysSo() {
    int notSupported = 801;
    try (TestDevice device = new TestDevice()) {
      long function = device.function(device.load(HEAD + function(20_000) + kernel(CALL)), "k");
      long out = device.allocate(4);
      assertThat(device.run(function, 1, 1, out, out)).isEqualTo(notSupported);
    }
  }

  @Test
  void modulesOfTheSameTextShareTheirCode() {
    String text = HEAD + kernel("mov.u32 %r0, 4711;");
    CompiledModule first = CompiledModule.of(text);
    CompiledModule again = CompiledModule.of(new String(text.toCharArray()));
    CompiledModule other = CompiledModule.of(text.replace("4711", "4712"));
    DeviceMemory memory = new DeviceMemory(1 << 20);
    try (LoadedModule a = new LoadedModule(memory, first);
        LoadedModule b = new LoadedModule(memory, again);
        LoadedModule c = new LoadedModule(memory, other)) {
      List<KernelCode> code =
          List.of(a, b, c).stream().map(m -> m.kernels().get("k").code()).toList();
      assertThat(code.get(1)).isSameAs(code.get(0));
      assertThat(code.get(2)).isNotSameAs(code.get(0));
    }
  }
}

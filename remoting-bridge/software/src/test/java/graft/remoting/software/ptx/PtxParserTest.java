package graft.remoting.software.ptx;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import graft.remoting.software.TestDevice;
import graft.remoting.software.module.CompiledModule;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class PtxParserTest {
  private static final String HEAD = ".version 8.0\n.target sm_75\n.address_size 64\n";

  @Test
  void readsInitialValuesOfEveryForm() {
    PtxModule module =
        PtxParser.parse(
            HEAD
                + ".global .align 4 .b8 bytes[2][3] = {{1, 2}, {0x10}};\n"
                + ".const .f32 pi = 0f40490FDB;\n"
                + ".global .f64 half = 0.5;\n"
                + ".global .u64 pointers[2] = {bytes+4, generic(half)};\n"
                + ".extern .shared .align 16 .b8 dynamic[];\n");
    Variable bytes = module.variables().get(0);
    assertThat(bytes.bytes()).isEqualTo(6);
    assertThat(bytes.initial())
        .extracting(Variable.Initial::bits)
        .containsExactly(1L, 2L, 0L, 16L, 0L, 0L);
    assertThat(module.variables().get(1).initial().get(0).bits()).isEqualTo(0x40490FDBL);
    assertThat(module.variables().get(2).initial().get(0).bits())
        .isEqualTo(Double.doubleToRawLongBits(0.5));
    assertThat(module.variables().get(3).initial().get(0))
        .isEqualTo(new Variable.Initial(4, "bytes", false, 0));
    assertThat(module.variables().get(4).elements()).isZero();
  }

  @Test
  void innerScopesHideNames() {
    CompiledModule module =
        CompiledModule.of(
            HEAD
                + ".visible .entry k() { .reg .u32 %r<2>; { .reg .u32 %r0; mov.u32 %r0, 1; }"
                + " mov.u32 %r0, 2; ret; }");
    assertThat(module.kernelNames()).containsExactly("k");
  }

  @Test
  void namesAnUnknownInstructionAndItsLine() {
    String ptx =
        HEAD + ".visible .entry k() {\n  .reg .b32 %r<3>;\n  frobnicate.s32 %r1, %r2;\n  ret;\n}\n";
    assertThatThrownBy(() -> CompiledModule.of(ptx))
        .isInstanceOfSatisfying(
            PtxException.class,
            e -> {
              assertThat(e.line()).isEqualTo(6);
              assertThat(e.isUnsupported()).isTrue();
            })
        .hasMessageContaining("frobnicate.s32");
  }

  @Test
  void namesWhatIsNotDeclared() {
    assertThatThrownBy(
            () ->
                CompiledModule.of(
                    HEAD + ".entry k() {\n  .reg .b32 %r<2>;\n  add.s32 %r1, %x, 1;\n}"))
        .isInstanceOf(PtxException.class)
        .hasMessageContaining("line 6")
        .hasMessageContaining("%x");
    assertThatThrownBy(() -> CompiledModule.of(HEAD + ".entry k() {\n  bra $nowhere;\n}"))
        .isInstanceOf(PtxException.class)
        .hasMessageContaining("$nowhere");
  }

  @ParameterizedTest
  @ValueSource(strings = {"cudaLaunchDevice", "__cudaCDP2LaunchDeviceV2"})
  void refusesDynamicParallelism(String function) {
    assertThatThrownBy(
            () ->
                CompiledModule.of(
                    (HEAD
                            + ".extern .func (.param .b32 r) LAUNCH (.param .b64 a);\n"
                            + ".visible .entry k() { .param .b64 p; .param .b32 r; call (r),"
                            + " LAUNCH, (p); ret; }")
                        .replace("LAUNCH", function)))
        .isInstanceOf(PtxException.class)
        .hasMessageContaining("dynamic parallelism");
  }

  /** Damaged text is refused with a line, or taken: nothing else may come out of it. */
  @Test
  void damagedTextIsRefused() {
    String original = TestDevice.resource("basic.ptx");
    Random random = new Random(7);
    int refused = 0;
    for (int i = 0; i < 4000; i++) {
      StringBuilder text = new StringBuilder(original);
      int changes = 1 + random.nextInt(4);
      for (int c = 0; c < changes; c++) {
        damage(text, random);
      }
      try {
        CompiledModule.of(text.toString());
      } catch (PtxException e) {
        assertThat(e.line()).isPositive();
        refused++;
      }
    }
    assertThat(refused).isGreaterThan(1000);
  }

  private static void damage(StringBuilder text, Random random) {
    int at = random.nextInt(text.length());
    int length = Math.min(1 + random.nextInt(12), text.length() - at);
    String pool = "{}()[]<>,;:+-|@!=%.\"\0$_0123456789abcdefxrU \n";
    switch (random.nextInt(4)) {
      case 0 -> text.delete(at, at + length);
      case 1 -> text.insert(at, pool.charAt(random.nextInt(pool.length())));
      case 2 -> text.insert(random.nextInt(text.length()), text.substring(at, at + length));
      default -> text.setCharAt(at, pool.charAt(random.nextInt(pool.length())));
    }
  }
}

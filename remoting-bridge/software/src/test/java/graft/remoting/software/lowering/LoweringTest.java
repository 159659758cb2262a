package graft.remoting.software.lowering;

import static graft.remoting.software.lowering.IrText.ends;
import static graft.remoting.software.lowering.IrText.lower;
import static graft.remoting.software.lowering.IrText.lowerBody;
import static graft.remoting.software.lowering.IrText.nodes;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import graft.remoting.software.ir.FunctionIr;
import graft.remoting.software.ir.SyncPoint;
import graft.remoting.software.ptx.PtxException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What PTX becomes in the typed intermediate form. */
final class LoweringTest {

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "add.s32 %r3, %r1, %r2;               | %r3 = IADD(%r1, %r2)",
        "sub.s64 %l3, %l1, 5;                 | %l3 = LSUB(%l1, 5L)",
        "shr.s32 %r3, %r1, 4;                 | %r3 = ISHR(%r1, 4)",
        "shr.u32 %r3, %r1, 4;                 | %r3 = IUSHR(%r1, 4)",
        "mul.wide.s32 %l3, %r1, %r2;          | %l3 = LMUL(I2L(%r1), I2L(%r2))",
        "mul.wide.u32 %l3, %r1, %r2; | "
            + "%l3 = LMUL(LAND(I2L(%r1), 4294967295L), LAND(I2L(%r2), 4294967295L))",
        "add.u16 %h3, %h1, %h2;               | %h3 = I2C(IADD(%h1, %h2))",
        "add.rn.f32 %f3, %f1, %f2;            | %f3 = FADD(%f1, %f2)",
        "fma.rn.f64 %d3, %d1, %d2, %d3;       | %d3 = FloatMath.fma(%d1, %d2, %d3)",
        "add.rz.f32 %f3, %f1, %f2;            | %f3 = Rounding.add(%f1, %f2, 1)",
        "mov.b32 %r1, %f1;                    | %r1 = Float.floatToRawIntBits(%f1)",
        "mov.f64 %d1, 0d3FF0000000000000;     | %d1 = 1.0",
        "mov.u32 %r1, %tid.x;                 | %r1 = block.tidX[thread]",
        "setp.lt.s32 %p1, %r1, %r2;           | temporary = LT(%r1, %r2); %p1 = temporary",
        "setp.lt.u32 %p1, %r1, %r2; "
            + "| temporary = LT(IADD(%r1, -2147483648), IADD(%r2, -2147483648)); %p1 = temporary",
        "setp.ltu.f32 %p1, %f1, %f2;          | temporary = not GE(%f1, %f2); %p1 = temporary",
        "selp.b32 %r3, %r1, %r2, %p1;         | %r3 = SELECT(%p1, %r1, %r2)",
      })
  void arithmeticIsTyped(String instruction, String expected) {
    assertThat(nodes(instruction)).isEqualTo(expected);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "cvt.u64.u32 %l1, %r1;                | %l1 = LAND(I2L(%r1), 4294967295L)",
        "cvt.s64.s32 %l1, %r1;                | %l1 = I2L(%r1)",
        "cvt.s8.s32 %r2, %r1;                 | %r2 = I2B(%r1)",
        "cvt.sat.u8.s32 %r2, %r1;             | %r2 = L2I(Conversions.clampU8(I2L(%r1), 0))",
        "cvt.sat.s32.u64 %r2, %l1;            | %r2 = L2I(Conversions.clampS32(%l1, 1))",
        "cvt.rzi.s32.f32 %r2, %f1;            | %r2 = F2I(%f1)",
        "cvt.rzi.ftz.s32.f32 %r2, %f1;        | %r2 = F2I(FloatMath.flush(%f1))",
        "cvt.rn.f32.s32 %f1, %r1;             | %f1 = I2F(%r1)",
        "cvt.rn.f32.u64 %f1, %l1;             | %f1 = Conversions.integerToF32(%l1, 1, 0)",
        "cvt.rp.f32.f64 %f1, %d1;             | %f1 = Rounding.toFloat(%d1, 3)",
        "cvt.sat.f32.f32 %f2, %f1;            | %f2 = FloatMath.saturate(%f1)",
        "cvt.f64.f32 %d1, %f1;                | %d1 = F2D(%f1)",
      })
  void conversionsRoundAndSaturate(String instruction, String expected) {
    assertThat(nodes(instruction)).isEqualTo(expected);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "ld.param.u64 %l1, [p];               | %l1 = param[0]:U64",
        "ld.global.u32 %r1, [%l1+8]; " + "| %r1 = Access.loadI32(Access.global(LADD(%l1, 8L), 4))",
        "ld.global.s8 %r1, [%l1];             | %r1 = Access.loadS8(Access.global(%l1, 1))",
        "ld.shared.f32 %f1, [%r1+4]; " + "| %f1 = Access.loadF32(Access.shared(IADD(%r1, 4), 4))",
        "ld.volatile.global.u32 %r1, [%l1];   | %r1 = Access.volatileI32(Access.global(%l1, 4))",
        "st.global.u16 [%l1], %h1;            | Access.storeI16(Access.global(%l1, 2), %h1)",
        "st.f64 [%l1], %d1; " + "| Access.storeF64(Access.generic(%l1, 8, thread), %d1)",
        "atom.global.add.u32 %r1, [%l1], 1;   | %r1 = Atomics.addB32(Access.global(%l1, 4), 1)",
        "red.shared.add.u32 [%r1], %r2;       | Atomics.addB32(Access.shared(%r1, 4), %r2)",
      })
  void accessesNameTheirStateSpace(String instruction, String expected) {
    assertThat(nodes(instruction)).isEqualTo(expected);
  }

  @Test
  void instructionsUnderAPredicateAreGuarded() {
    assertThat(nodes("@%p1 add.s32 %r3, %r1, 1; @!%p1 st.global.u32 [%l1], %r3;"))
        .isEqualTo(
            "if %p1 {%r3 = IADD(%r1, 1)}; "
                + "if not %p1 {Access.storeI32(Access.global(%l1, 4), %r3)}");
  }

  @Test
  void whatEndsABlockUnderAPredicateBecomesABranch() {
    assertThat(ends(lowerBody("@%p1 exit; mov.u32 %r1, 1; ret;").kernel()))
        .containsExactlyInAnyOrder("branch %p1", "exit", "exit");
    assertThat(ends(lowerBody("@!%p1 bra OUT; mov.u32 %r1, 1; OUT: ret;").kernel()))
        .containsExactly("branch IXOR(%p1, 1)", "jump", "exit");
    assertThat(ends(lowerBody("@%p1 bar.sync 0; ret;").kernel()))
        .containsExactlyInAnyOrder("branch %p1", "BARRIER(0, 0)", "jump", "exit");
  }

  @Test
  void codeThatNothingReachesIsLeftOut() {
    FunctionIr f = lowerBody("bra OUT; trap; mov.u32 %r1, 1; OUT: ret;").kernel();
    assertThat(f.blocks()).hasSize(2);
    assertThat(f.blocks()).allSatisfy(b -> assertThat(nodes(b)).isEmpty());
  }

  @Test
  void threadsWaitAtNumberedPoints() {
    FunctionIr f =
        lowerBody(
                "bar.sync 0; bar.sync 1, 64; shfl.sync.down.b32 %r3|%p1, %r1, 1, 31, -1;"
                    + " vote.sync.ballot.b32 %r4, %p1, -1; ret;")
            .kernel();
    assertThat(ends(f))
        .containsExactly(
            "BARRIER(0, 0)",
            "BARRIER(1, 64)",
            "SHUFFLE_DOWN(%r1, 1, 31, -1)",
            "VOTE_BALLOT(%p1, -1)",
            "exit");
    assertThat(f.syncPoints()).extracting(SyncPoint::id).containsExactly(0, 1, 2, 3);
    assertThat(f.syncPoints())
        .as("the barrier is known only where all threads take part")
        .extracting(SyncPoint::constantBarrier)
        .containsExactly(0, -1, -1, -1);
    assertThat(nodes(f.blocks().get(3)))
        .as("results are read where the thread goes on")
        .isEqualTo("%r3 = block.result0[thread]; %p1 = block.result1[thread]");
  }

  /** CUDA programming guide, "Independent Thread Scheduling". */
  @Test
  void aLoopThatWaitsForAnotherThreadGivesWay() {
    String look = "AGAIN: ld.volatile.global.u32 %r1, [%l1]; setp.eq.u32 %p1, %r1, 0;";
    String count = "AGAIN: add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 9;";
    assertThat(ends(lowerBody(look + " @%p1 bra AGAIN; ret;").kernel())).contains("YIELD()");
    assertThat(ends(lowerBody(count + " @%p1 bra AGAIN; ret;").kernel())).doesNotContain("YIELD()");
  }

  @Test
  void localVariablesShareTheFrame() {
    FunctionIr f =
        lowerBody(
                ".local .align 1 .b8 a[3]; .local .align 8 .b8 b[8]; .local .align 4 .b32 c;"
                    + " mov.u64 %l1, a; mov.u64 %l2, b; mov.u64 %l3, c; st.local.u8 [b+5], %h1;")
            .kernel();
    assertThat(nodes(f.start()))
        .startsWith("%l1 = frame+0; %l2 = frame+8; %l3 = frame+16; ")
        .contains("(frame+13");
    assertThat(f.frameBytes()).isEqualTo(20);
  }

  @Test
  void sharedVariablesAreOffsetsAndDynamicOnesComeLast() {
    Program p =
        lower(
            ".extern .shared .align 128 .b8 rest[]; .visible .entry k() {"
                + " .reg .b32 %r<4>; .shared .b8 a[5]; .shared .align 16 .b8 b[4];"
                + " mov.u32 %r1, a; mov.u32 %r2, b; mov.u32 %r3, rest; ret; }");
    assertThat(nodes(p.kernel().start()))
        .isEqualTo("%r1 = L2I(I2L(0)); %r2 = L2I(I2L(16)); %r3 = L2I(I2L(block.dynamicShared))");
    assertThat(p.sharedBytes()).isEqualTo(20);
    assertThat(p.dynamicSharedOffset()).isEqualTo(128);
  }

  @Test
  void parametersLieAtMultiplesOfTheirSize() {
    Program p =
        lower(
            ".visible .entry k(.param .u8 a, .param .u64 b, .param .align 4 .b8 c[6]) {"
                + " .reg .b32 %r<3>; ld.param.u8 %r1, [a]; ld.param.u16 %r2, [c+4]; ret; }");
    assertThat(p.parameters())
        .containsExactly(
            new Program.Parameter(0, 1), new Program.Parameter(8, 8), new Program.Parameter(16, 6));
    assertThat(p.parameterBytes()).isEqualTo(22);
    assertThat(nodes(p.kernel().start())).isEqualTo("%r1 = param[0]:U8; %r2 = param[20]:U16");
  }

  @Test
  void moduleVariablesAreSymbols() {
    Program p =
        lower(
            ".global .u32 count; .const .f32 pi = 0f40490FDB; .global .u32 unused;"
                + " .visible .entry k() { .reg .b64 %l<3>; mov.u64 %l1, count+8; mov.u64 %l2, pi; }");
    assertThat(nodes(p.kernel().start())).isEqualTo("%l1 = count+8; %l2 = pi+0");
    assertThat(p.symbols()).containsOnlyKeys("count", "pi");
  }

  private static Program calling(String body) {
    return lower(
        ".func (.param .b32 r) f(.param .b32 a) { .reg .b32 %x; ld.param.b32 %x, [a]; "
            + body
            + " st.param.b32 [r], %x; ret; }"
            + " .visible .entry k() { .param .b32 in; .param .b32 out; .reg .b32 %r1;"
            + " st.param.b32 [in], 7; call (out), f, (in); ld.param.b32 %r1, [out]; ret; }");
  }

  @Test
  void functionsAreCalledWithTheirArgumentsInTheFrame() {
    Program p = calling("add.u32 %x, %x, 1;");
    assertThat(nodes(p.kernel().start()))
        .isEqualTo("Access.storeI32(frame+16, 7); call f; %r1 = Access.loadI32(frame+0)");
    assertThat(p.functions()).containsOnlyKeys("f");
    assertThat(nodes(p.functions().get("f").start()))
        .isEqualTo(
            "%x = Access.loadI32(arguments+16); %x = IADD(%x, 1);"
                + " Access.storeI32(arguments+0, %x)");
    assertThat(p.isRecursive()).isFalse();
  }

  /** Only a kernel can be left and entered again in the middle. */
  @Test
  void functionsInWhichThreadsWaitBecomePartOfTheKernel() {
    Program p = calling("bar.sync 0;");
    assertThat(p.functions()).isEmpty();
    assertThat(ends(p.kernel())).contains("BARRIER(0, 0)");
  }

  @Test
  void recursionIsKnown() {
    Program p =
        lower(
            ".func f() { call g; ret; } .func g() { call f; ret; }"
                + " .visible .entry k() { call f; ret; }");
    assertThat(p.functions()).containsOnlyKeys("f", "g");
    assertThat(p.isRecursive()).isTrue();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "add.s32 %r1, %r2;               | wrong operands for 'add.s32'",
        "add.s32 %r1, %r2, %nothing;     | '%nothing' is not declared",
        "add.s32 here, %r2, %r3;         | expected a register but found 'here'",
        "bra there;                      | branch to 'there', which is no label",
        "cvt.s32.f32 %r1, %f1;           | needs a rounding to an integer",
        "mov.u32 %r1, %tid.q;            | special register '%tid.q'",
        "shfl.down.b32 %r1, %r2, 1, 31;  | without .sync",
        "vadd4.u32.u32.u32 %r1.b0, %r2, %r3, %r4; | with a mask or a selector",
        "frob.u32 %r1, %r2;              | instruction 'frob.u32'",
        ".local .b8 much[1000000];       | more than 512 KiB of local memory",
        ".shared .b8 much[2000000]; mov.u32 %r1, much; | more than 1 MiB of static shared memory",
      })
  void whatCannotBeTakenIsNamedWithItsLine(String statement, String expected) {
    String before = "mov.u32 %r5, 0;\n// the next line is wrong\n";
    assertThatThrownBy(() -> lowerBody(before + statement + "\nret;"))
        .isInstanceOfSatisfying(PtxException.class, e -> assertThat(e.line()).isEqualTo(3))
        .hasMessageContaining(expected);
  }
}

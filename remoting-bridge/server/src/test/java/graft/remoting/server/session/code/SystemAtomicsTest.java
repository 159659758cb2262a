package graft.remoting.server.session.code;

import static org.assertj.core.api.Assertions.assertThat;

import graft.remoting.server.system.Scratch;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** When a program is told that its atomics need GRAFT_MANAGED=exclusive. */
final class SystemAtomicsTest {
  private static final String SYSTEM = "atom.global.sys.add.u32 %r1, [%rd1], 1;";

  private final List<String> told = new ArrayList<>();
  private final CodeSearch search = new CodeSearch();
  private final SystemAtomics atomics = new SystemAtomics(told::add);

  private void load(String ptx) {
    try (Scratch image = Scratch.of(ptx.getBytes(StandardCharsets.US_ASCII))) {
      atomics.loaded(search.search(image.address(), ptx.length()));
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        SYSTEM,
        "red.sys.add.u32 [%rd1], 1;",
        "atom.acq_rel.sys.global.cas.b32 %r1, [%rd1], 1, 2;",
        "@%p1 atom.relaxed.sys.add.u32 %r1, [%rd1], 1;"
      })
  void codeWithSystemWideAtomicsAndManagedMemory(String instruction) {
    load(".version 8.0\n" + instruction);
    assertThat(told).isEmpty();
    atomics.sharesMemory();
    assertThat(told).singleElement().asString().contains("set GRAFT_MANAGED=exclusive");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "atom.global.add.u32 %r1, [%rd1], 1;",
        "atom.global.gpu.add.u32 %r1, [%rd1], 1; ld.relaxed.sys.global.u32 %r2, [%rd1];",
        "fence.acq_rel.sys; membar.sys;",
        ""
      })
  void otherCodeIsNotMeant(String instruction) {
    atomics.sharesMemory();
    load(".version 8.0\n" + instruction);
    assertThat(told).isEmpty();
  }

  @Test
  void aProgramIsToldOnce() {
    atomics.sharesMemory();
    load(SYSTEM);
    load(SYSTEM);
    atomics.sharesMemory();
    assertThat(told).hasSize(1);
  }

  @Test
  void damagedAndLargeCodeIsNotSearched() {
    atomics.sharesMemory();
    load(SYSTEM + " ".repeat(1 << 20));
    byte[] fatbin = new byte[32];
    fatbin[0] = 0x50;
    fatbin[1] = (byte) 0xed;
    fatbin[2] = 0x55;
    fatbin[3] = (byte) 0xba;
    fatbin[6] = 16;
    fatbin[24] = -1;
    try (Scratch image = Scratch.of(fatbin)) {
      atomics.loaded(search.search(image.address(), fatbin.length));
    }
    assertThat(told).isEmpty();
  }
}

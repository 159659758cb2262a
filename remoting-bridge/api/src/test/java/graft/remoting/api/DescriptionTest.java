package graft.remoting.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;

class DescriptionTest {
  @Test
  void readsClassFlagsParametersAndVersions() {
    Function f =
        Description.parse(
                List.of(
                    "sync custom cuMemAlloc_v2(out dptr dptr, size bytes) since cuMemAlloc 3020 ptsz 7000"))
            .functions()
            .get(0);
    assertThat(f.serviceClass()).isEqualTo(Function.ServiceClass.SYNC);
    assertThat(f.custom()).isTrue();
    assertThat(f.session()).isFalse();
    assertThat(f.lookup()).contains(new Function.Lookup("cuMemAlloc", 3020));
    assertThat(f.perThread()).contains(new Function.PerThread("ptsz", 7000));
    assertThat(f.declareC()).isEqualTo("uint64_t *dptr, size_t bytes");
  }

  @Test
  void refusesWhatCannotTravel() {
    assertThatThrownBy(() -> Description.parse(List.of("", "sync cuFoo(ptr p)")))
        .hasMessage("driver.api:2: p is a raw pointer: it cannot travel");
    assertThatThrownBy(() -> Description.parse(List.of("async cuFoo(out u32 p)")))
        .hasMessageContaining("cannot be async");
    assertThatThrownBy(() -> Description.parse(List.of("sync cuFoo(in u32[n] p)")))
        .hasMessageContaining("counted by an unknown n");
    assertThatThrownBy(() -> Description.parse(List.of("sync cuFoo(u33 p)")))
        .hasMessageContaining("unknown type 'u33'");
    assertThatThrownBy(() -> Description.parse(List.of("none a", "none a")))
        .hasMessage("driver.api:2: a is described twice");
  }

  @Test
  void hashChangesWithTheWireAndOnlyWithIt() {
    long hash = Description.parse(List.of("sync cuFoo(u32 p)")).hash();
    assertThat(Description.parse(List.of("sync cuFoo(u64 p)")).hash()).isNotEqualTo(hash);
    assertThat(Description.parse(List.of("async cuFoo(u32 p)")).hash()).isNotEqualTo(hash);
    assertThat(Description.parse(List.of("sync cuFoo(u32 q) since cuFoo 1", "none cuBar")).hash())
        .isEqualTo(hash);
  }

  @Test
  void theDescriptionOfThisModuleIsWhole() {
    Description description = Description.load();
    assertThat(description.wire()).hasSizeGreaterThan(100);
    // libcuda 580 exports 707 names (per-thread variants counted by the C build's own check).
    assertThat(description.functions().stream().filter(f -> !f.internal()).count())
        .isGreaterThan(600);
  }
}

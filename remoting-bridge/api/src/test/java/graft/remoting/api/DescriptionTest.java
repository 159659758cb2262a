package graft.remoting.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Set;
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
  void readsWhatTheClientHasToKnowOfACall() {
    List<Function> functions =
        Description.parse(
                List.of(
                    "async session(launch) launches a()",
                    "async works b()",
                    "sync outlives-fault custom c()",
                    "sync in-context d()"))
            .functions();
    assertThat(functions)
        .extracting(Function::traits)
        .containsExactly(
            Set.of(Function.Trait.LAUNCHES),
            Set.of(Function.Trait.WORKS),
            Set.of(Function.Trait.OUTLIVES_FAULT),
            Set.of(Function.Trait.IN_CONTEXT));
    assertThat(functions.get(2).custom()).isTrue();
    assertThatThrownBy(() -> Description.parse(List.of("async launches(copies) a()")))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void aGroupHoldsUntilTheNext() {
    List<Function> functions =
        Description.parse(
                List.of(
                    "none a", "group MemoryApi", "none b", "none c", "group CudaDevice", "none d"))
            .functions();
    assertThat(functions)
        .extracting(Function::group)
        .containsExactly("CudaDevice", "MemoryApi", "MemoryApi", "CudaDevice");
    assertThatThrownBy(() -> Description.parse(List.of("group memory")))
        .hasMessage("driver.api:1: not the name of a group: memory");
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

  private static void refused(String message, String... lines) {
    assertThatThrownBy(() -> Description.parse(List.of(lines))).hasMessageContaining(message);
  }

  @Test
  void refusesAddressesOfWhichItDoesNotSayWhatTheyAre() {
    refused("p has no meaning: dptr(meaning)", "sync cuFoo(dptr p)");
    refused("p has no meaning: u64(meaning)", "sync cuFoo(u64 p)");
    refused("p has no meaning: u64(meaning)", "sync cuFoo(in u64[2] p)");
    refused("p has no meaning: struct8(meaning)", "sync cuFoo(in struct8 p)");
    refused("there is no parameter n beside it", "sync cuFoo(dptr(2*n) p)");
    refused("NUMBER is no meaning of that type", "sync cuFoo(dptr(number) p)");
    refused("BASE is no meaning of that type", "sync cuFoo(u64(base) p)");
    refused("no number of bytes: ''", "sync cuFoo(dptr(2*) p)");
    refused("p is a result, which cannot have a meaning", "sync cuFoo(out dptr(8) p)");
    Description.parse(
        List.of("sync cuFoo(dptr(rows(p,2*w,h)) a, size p, size w, u32 h, out dptr b)"));
  }

  @Test
  void refusesStructuresOfWhichItDoesNotSayWhereTheirPointersAre() {
    refused("p is no structure of 8 bytes that is described", "sync cuFoo(in struct8(x) p)");
    refused(
        "p is no structure of 8 bytes that is described",
        "struct x 16 plain",
        "sync cuFoo(in struct8(x) p)");
    refused("x has no pointer at offset 16", "struct x 16 zero 16");
    refused("x has no pointer at offset 4", "struct x 16 zero 4");
    refused(
        "x has two cases for one value of 1", "struct x 16 by @0", "  1: plain", "  1/2: zero 8");
    refused("structure x is described twice", "struct x 16 plain", "struct x 16 plain");
    refused("a case without a structure", "  1: plain");
    refused(
        "names a parameter beside it",
        "struct x 16 by kind",
        "  1: plain",
        "sync cuFoo(in struct16(x) p, enum kind)");
    Description.parse(
        List.of(
            "struct x 16 by kind", "  1: plain", "sync cuFoo(in struct16(x:kind) p, enum kind)"));
  }

  @Test
  void hashChangesWithTheWireAndOnlyWithIt() {
    long hash = Description.parse(List.of("sync cuFoo(u32 p)")).hash();
    assertThat(Description.parse(List.of("sync cuFoo(size p)")).hash()).isNotEqualTo(hash);
    assertThat(Description.parse(List.of("async cuFoo(u32 p)")).hash()).isNotEqualTo(hash);
    assertThat(Description.parse(List.of("sync cuFoo(u32 q) since cuFoo 1", "none cuBar")).hash())
        .isEqualTo(hash);
  }

  /** The parameters whose meaning the server does not check, as {@code function.parameter}. */
  private static List<String> passing(Meaning.Kind kind) {
    return Description.load().wire().stream()
        .flatMap(
            f ->
                f.parameters().stream()
                    .filter(p -> p.meaning() != null && p.meaning().kind() == kind)
                    .map(p -> f.symbol() + "." + p.name()))
        .toList();
  }

  /**
   * The attacks are generated from the description: a parameter that the description does not check
   * is not attacked either.
   */
  @Test
  void whatIsNotCheckedIsNoAddress() {
    // The driver writes the address into a tensor map or a texture reference, of which a program
    // can make any: kernels reach what they are given, in the worker's context alone.
    assertThat(passing(Meaning.Kind.HINT))
        .containsExactly(
            "cuMemAddressReserve.addr",
            "graftTensorMapTiled.address",
            "graftTensorMapIm2col.address",
            "graftTensorMapIm2colWide.address",
            "graftTensorMapReplace.address",
            "cuTexRefSetAddress_v2.dptr");
    assertThat(passing(Meaning.Kind.OPTIONS)).allMatch(name -> name.endsWith(".options"));
    assertThat(passing(Meaning.Kind.NUMBER))
        .allMatch(
            name ->
                name.matches(
                    ".*\\.(bytes|flags|offset|capacity|callback|read|value|number|sizes|strides)"));
    assertThat(
            Description.load().structures().values().stream()
                .filter(s -> s.cases().stream().allMatch(c -> c.fields().isEmpty()))
                .map(Structure::name))
        .containsExactly(
            "word",
            "location",
            "edge",
            "access",
            "hash",
            "token",
            "array2D",
            "array3D",
            "sampling",
            "view",
            "tensorMap",
            "peerTicket");
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

package graft.deployment.placement;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** Which GPU a guest gets that may have any. */
class ChooserTest {
  private static final long GIB = 1L << 30;
  private static final int ROUNDS = 300;

  private static Candidate gpu(String name, int gib) {
    return new Candidate(
        name,
        "host " + name,
        Optional.empty(),
        Optional.empty(),
        Optional.of("NVIDIA H100 80GB HBM3"),
        OptionalLong.of(gib * GIB),
        OptionalInt.empty());
  }

  private static Candidate nodes(String name, String node) {
    return new Candidate(
        name,
        "node:" + node + " " + name,
        Optional.of(node),
        Optional.empty(),
        Optional.empty(),
        OptionalLong.empty(),
        OptionalInt.empty());
  }

  private static Candidate near(String name, int numa) {
    Candidate gpu = gpu(name, 80);
    return new Candidate(
        name,
        gpu.device(),
        gpu.node(),
        gpu.obstacle(),
        gpu.chip(),
        gpu.memory(),
        OptionalInt.of(numa));
  }

  private static Demand demand(String guest, int percent, int gib) {
    return new Demand(
        guest,
        0,
        new GpuUse(guest, percent, gib * GIB, false, false),
        percent > 0 || gib > 0,
        Optional.empty(),
        Optional.empty(),
        OptionalInt.empty(),
        Optional.empty(),
        false);
  }

  private static Demand placed(Demand demand, String gpu, boolean grown) {
    return new Demand(
        demand.guest(),
        demand.number(),
        demand.use(),
        demand.limits(),
        demand.chip(),
        demand.node(),
        demand.numa(),
        Optional.of(gpu),
        grown);
  }

  private static Demand of(Demand demand, String chip, String node, int numa) {
    return new Demand(
        demand.guest(),
        demand.number(),
        demand.use(),
        demand.limits(),
        Optional.ofNullable(chip),
        Optional.ofNullable(node),
        numa < 0 ? OptionalInt.empty() : OptionalInt.of(numa),
        demand.before(),
        demand.grown());
  }

  private static Map<String, String> choose(List<Candidate> gpus, Demand... demands) {
    return names(new Chooser(gpus, Map.of()).choose(List.of(demands)));
  }

  private static Map<String, String> names(List<Choice> choices) {
    Map<String, String> names = new TreeMap<>();
    choices.forEach(
        one ->
            names.put(
                one.demand().guest() + (one.demand().number() == 0 ? "" : "+"),
                one.isMade() ? one.gpu().name() : "none: " + one.reasons()));
    return names;
  }

  @Test
  void theFullestGpuThatFitsKeepsWholeGpusFree() {
    assertThat(
            choose(
                List.of(gpu("gpu0", 80), gpu("gpu1", 80)),
                demand("a", 50, 0),
                demand("b", 30, 0),
                demand("c", 20, 0),
                demand("d", 100, 0)))
        .isEqualTo(Map.of("a", "gpu1", "b", "gpu1", "c", "gpu1", "d", "gpu0"));
  }

  @Test
  void guestsThatTakeNothingAwayAreSpread() {
    assertThat(
            choose(
                List.of(gpu("gpu0", 80), gpu("gpu1", 80)),
                demand("a", 0, 0),
                demand("b", 0, 0),
                demand("c", 0, 0)))
        .isEqualTo(Map.of("a", "gpu0", "b", "gpu1", "c", "gpu0"));
  }

  @Test
  void aGpuThatDoesNotFitSaysWhy() {
    assertThat(
            choose(
                List.of(gpu("gpu0", 16), gpu("gpu1", 80), nodes("gpu2", "big")),
                demand("a", 80, 40),
                demand("b", 30, 20)))
        .isEqualTo(
            Map.of(
                "a",
                "gpu1",
                "b",
                "none: gpu0: 16GiB of its memory are free, of 20GiB asked; gpu1: 20 percent of its"
                    + " time are free, of 30 asked; gpu2: the server of the node big says what a"
                    + " guest gets, and not this descriptor"));
  }

  @Test
  void theHostComesBeforeNodesAndTheGuestsNumaNodeBeforeOthers() {
    List<Candidate> gpus = List.of(nodes("far", "big"), near("gpu0", 0), near("gpu1", 1));
    assertThat(
            choose(
                gpus,
                of(demand("a", 0, 0), null, null, 1),
                of(demand("b", 10, 0), null, null, 1),
                demand("c", 0, 0),
                of(demand("d", 0, 0), null, "big", -1)))
        .isEqualTo(Map.of("a", "gpu1", "b", "gpu1", "c", "gpu0", "d", "far"));
  }

  @Test
  void aChipIsAWordOfItsName() {
    List<Candidate> gpus = List.of(gpu("gpu0", 80), nodes("far", "big"));
    assertThat(
            choose(
                gpus,
                of(demand("a", 0, 0), "h100", null, -1),
                of(demand("b", 0, 0), "H10", null, -1)))
        .isEqualTo(
            Map.of(
                "a",
                "gpu0",
                "b",
                "none: gpu0: it is NVIDIA H100 80GB HBM3; far: its chip is not known; 'chip' of"
                    + " the GPU can say it"));
  }

  @Test
  void aGuestThatFewGpusFitComesBeforeALargerOne() {
    Candidate a100 =
        new Candidate(
            "gpu1",
            "host gpu1",
            Optional.empty(),
            Optional.empty(),
            Optional.of("NVIDIA A100"),
            OptionalLong.of(80 * GIB),
            OptionalInt.empty());
    assertThat(
            choose(
                List.of(gpu("gpu0", 80), a100),
                demand("a", 70, 0),
                of(demand("b", 60, 0), "H100", null, -1)))
        .isEqualTo(Map.of("a", "gpu1", "b", "gpu0"));
  }

  @Test
  void twoOfOneGuestAreTwoGpusAlsoWhereOneGpuHasTwoNames() {
    Demand first = demand("a", 0, 0);
    Demand second =
        new Demand(
            "a",
            1,
            first.use(),
            false,
            Optional.empty(),
            Optional.empty(),
            OptionalInt.empty(),
            Optional.empty(),
            false);
    Candidate again =
        new Candidate(
            "again",
            "host gpu0",
            Optional.empty(),
            Optional.empty(),
            Optional.empty(),
            OptionalLong.empty(),
            OptionalInt.empty());
    assertThat(choose(List.of(gpu("gpu0", 80), again, gpu("gpu1", 80)), first, second))
        .isEqualTo(Map.of("a", "gpu0", "a+", "gpu1"));
    assertThat(choose(List.of(gpu("gpu0", 80), again), first, second).get("a+"))
        .isEqualTo("none: gpu0: the guest uses it already; again: the guest uses it already");
  }

  @Test
  void theOneThatHasGrownMovesAndNotItsNeighbour() {
    List<Candidate> gpus = List.of(gpu("gpu0", 80), gpu("gpu1", 80));
    assertThat(
            choose(
                gpus,
                placed(demand("grower", 80, 0), "gpu0", true),
                placed(demand("neighbour", 40, 0), "gpu0", false)))
        .isEqualTo(Map.of("grower", "gpu1", "neighbour", "gpu0"));
  }

  @Test
  void anExclusiveGpuIsShared() {
    Demand alone =
        new Demand(
            "alone",
            0,
            new GpuUse("alone", 0, 0, true, false),
            false,
            Optional.empty(),
            Optional.empty(),
            OptionalInt.empty(),
            Optional.empty(),
            false);
    assertThat(choose(List.of(gpu("gpu0", 80), gpu("gpu1", 80)), demand("a", 90, 0), alone))
        .isEqualTo(Map.of("a", "gpu1", "alone", "gpu0"));
    assertThat(choose(List.of(gpu("gpu0", 80)), demand("a", 0, 0), alone))
        .containsEntry("a", "none: gpu0: 'alone' has it to itself");
  }

  /** Random hosts and guests. */
  private static final class World {
    final Random random;
    final List<Candidate> gpus = new ArrayList<>();
    final Map<String, List<GpuUse>> uses = new HashMap<>();
    final List<Demand> demands = new ArrayList<>();

    World(long seed) {
      random = new Random(seed);
      for (int i = 0; i < 1 + random.nextInt(4); i++) {
        gpus.add(gpu("gpu" + i, 8 * (1 + random.nextInt(10))));
        if (random.nextInt(3) == 0) {
          uses.put(
              "gpu" + i, List.of(new GpuUse("named" + i, random.nextInt(60), GIB, false, false)));
        }
      }
      for (int i = 0; i < random.nextInt(12); i++) {
        demands.add(demand("guest" + i, random.nextInt(70), random.nextInt(12)));
      }
    }

    List<Choice> choose(List<Demand> wanted) {
      return new Chooser(gpus, uses).choose(wanted);
    }

    /** Guests that an operator has put anywhere where they fit. */
    List<Demand> placed() {
      Map<String, Room> rooms = new HashMap<>();
      gpus.forEach(gpu -> rooms.put(gpu.name(), new Room()));
      uses.forEach((gpu, taken) -> taken.forEach(rooms.get(gpu)::take));
      List<Demand> placed = new ArrayList<>();
      for (Demand demand : demands) {
        Candidate gpu = gpus.get(random.nextInt(gpus.size()));
        if (rooms.get(gpu.name()).refusal(demand, gpu).isEmpty()) {
          rooms.get(gpu.name()).take(demand.use());
          placed.add(ChooserTest.placed(demand, gpu.name(), false));
        }
      }
      return placed;
    }
  }

  @Test
  void noGpuIsEverOvercommitted() {
    for (int seed = 0; seed < ROUNDS; seed++) {
      World world = new World(seed);
      List<Choice> choices = world.choose(world.demands);
      for (Candidate gpu : world.gpus) {
        List<GpuUse> uses = new ArrayList<>(world.uses.getOrDefault(gpu.name(), List.of()));
        choices.stream()
            .filter(one -> one.isMade() && one.gpu().equals(gpu))
            .forEach(one -> uses.add(one.demand().use()));
        assertThat(uses.stream().mapToInt(GpuUse::guaranteed).sum())
            .as("seed " + seed)
            .isLessThanOrEqualTo(100);
        assertThat(uses.stream().mapToLong(GpuUse::memory).sum())
            .as("seed " + seed)
            .isLessThanOrEqualTo(gpu.memory().getAsLong());
      }
      assertThat(choices).hasSameSizeAs(world.demands);
    }
  }

  @Test
  void theOrderOfTheGuestsDoesNotMatter() {
    for (int seed = 0; seed < ROUNDS; seed++) {
      World world = new World(seed);
      List<Demand> shuffled = new ArrayList<>(world.demands);
      Collections.shuffle(shuffled, world.random);
      assertThat(names(world.choose(shuffled)))
          .as("seed " + seed)
          .isEqualTo(names(world.choose(world.demands)));
    }
  }

  @Test
  void aNewGuestMovesNobody() {
    for (int seed = 0; seed < ROUNDS; seed++) {
      World world = new World(seed);
      List<Demand> wanted = world.placed();
      Map<String, String> before = new TreeMap<>();
      wanted.forEach(demand -> before.put(demand.guest(), demand.before().orElseThrow()));
      wanted.add(world.random.nextInt(wanted.size() + 1), demand("a-new", 90, 8));
      Map<String, String> after = names(world.choose(wanted));
      after.remove("a-new");
      assertThat(after).as("seed " + seed).isEqualTo(before);
    }
  }
}

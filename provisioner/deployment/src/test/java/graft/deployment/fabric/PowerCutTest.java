package graft.deployment.fabric;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import graft.common.disk.PrivateFiles;
import graft.common.grants.TokensFile;
import graft.common.values.Name;
import graft.deployment.Consent;
import graft.deployment.QuietProgress;
import graft.deployment.UndoRun;
import graft.deployment.journal.JournalState;
import graft.deployment.state.DeviceClaims;
import graft.deployment.state.ForgetfulDisk;
import graft.deployment.state.ForgetfulDisk.PowerCut;
import graft.deployment.state.StateFolder;
import graft.deployment.step.Step;
import graft.deployment.step.device.AssignsDevice;
import graft.deployment.step.guest.GrantAccess;
import graft.deployment.step.guest.MakeToken;
import graft.sriov.RamTempDirFactory;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.SortedMap;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Power is cut at random moments while devices are assigned to a guest and released, and what was
 * not synced is lost. The host comes up as it boots, without anything that was set in sysfs; then
 * the deployment can be applied or destroyed, and nothing of it stays behind.
 */
class PowerCutTest {
  /** For each command; there are four of them. */
  private static final int CUTS = Integer.getInteger("graft.power-cuts", 25);

  private static final long SEED = Long.getLong("graft.seed", new Random().nextLong());
  private static final Name SETUP = new Name("lab");
  private static final String ALL = RecordedDeployments.DEVICES.replace("true", "false");

  /** Without the devices that {@link Command#ATTACH} gives and {@link Command#DETACH} takes. */
  private static final String SOME =
      ALL.replaceAll("    - \\{mdev[^\n]*\n", "").replace("vfs: [{adapter: ib0}]", "");

  /** What is done when power is cut. */
  enum Command {
    APPLY,
    DESTROY,
    ATTACH,
    DETACH
  }

  @TempDir(factory = RamTempDirFactory.class)
  private Path folder;

  private final Map<Command, Integer> lengths = new EnumMap<>(Command.class);
  private DeviceHost host;
  private int boots;
  private SortedMap<String, String> first;

  @ParameterizedTest
  @EnumSource
  void nothingStaysBehind(Command command) throws Exception {
    boot();
    int length = length(command);
    assertThat(length).as("moments of %s", command).isGreaterThan(30);
    for (int cut = 0; cut < CUTS; cut++) {
      Random random = new Random(SEED + cut);
      int moment = 1 + random.nextInt(length);
      String where =
          "%s, cut at %d of %d, -Dgraft.seed=%d".formatted(command, moment, length, SEED + cut);
      prepare(command);
      try (ForgetfulDisk disk = new ForgetfulDisk(state(), moment)) {
        Throwable end = catchThrowable(() -> carryOut(command));
        if (end == null) {
          // Chains that run in parallel can share a folder's sync, so that there were fewer
          // moments than in the run that was counted. Power is cut after the last one then.
          assertThat(disk.moments()).as(where).isLessThan(moment);
        } else {
          assertThat(end instanceof PowerCut ? end : end.getCause())
              .as(where)
              .isInstanceOf(PowerCut.class);
        }
        disk.comeBack(random);
      }
      boot();
      if (random.nextBoolean()) {
        apply(ALL);
        assertThat(DeviceHost.lines(host.plan(ALL))).as(where).isEmpty();
        assertThat(new TokensFile(tokens()).read()).as(where).containsOnlyKeys("alice");
      }
      assertThat(destroy()).as(where).isEmpty();
      assertThat(host.fake.state()).as(where).isEqualTo(first);
      assertThat(left()).as(where).isSubsetOf(".devices");
      Files.deleteIfExists(state().resolve(".devices"));
    }
  }

  /** A claim of a version that did not sync them: its name came back without its content. */
  @Test
  void claimsWithoutContentGoWithTheirDeployment() throws Exception {
    boot();
    apply(ALL);
    loseClaims();
    boot();
    assertThat(host.claims()).isEmpty();
    assertThat(destroy()).isEmpty();
    assertThat(host.fake.state()).isEqualTo(first);
    assertThat(left()).containsExactly(".devices");
  }

  @Test
  void claimsWithoutContentAreMadeAgain() throws Exception {
    boot();
    apply(ALL);
    int claims = host.claims().size();
    loseClaims();
    boot();
    apply(ALL);
    assertThat(host.claims()).hasSize(claims);
    assertThat(DeviceHost.lines(host.plan(ALL))).isEmpty();
    assertThat(destroy()).isEmpty();
    assertThat(left()).containsExactly(".devices");
  }

  private void loseClaims() throws IOException {
    Path claims = DeviceClaims.folder(state());
    for (String device : host.claims().keySet()) {
      Files.write(claims.resolve(device), new byte[0]);
    }
  }

  /** A host as it boots: what was set in sysfs is gone, the disk stays. */
  private void boot() throws IOException {
    PrivateFiles.deleteFolder(folder.resolve("host"));
    PrivateFiles.deleteFolder(folder.resolve("machine"));
    host = RecordedDeployments.devices(folder);
    host.fake.file("/proc/sys/kernel/random/boot_id", "boot " + boots++);
    first = host.fake.state();
    Files.createDirectories(state());
  }

  private int length(Command command) throws Exception {
    if (!lengths.containsKey(command)) {
      prepare(command);
      try (ForgetfulDisk disk = new ForgetfulDisk(state(), Integer.MAX_VALUE)) {
        carryOut(command);
        lengths.put(command, disk.moments());
      }
      assertThat(destroy()).isEmpty();
    }
    return lengths.get(command);
  }

  private void prepare(Command command) throws Exception {
    switch (command) {
      case APPLY -> {}
      case ATTACH -> apply(SOME);
      case DESTROY, DETACH -> apply(ALL);
    }
  }

  private void carryOut(Command command) throws Exception {
    switch (command) {
      case APPLY, ATTACH -> apply(ALL);
      case DESTROY -> destroy();
      case DETACH ->
          assertThat(
                  takeBack(
                      "detach",
                      journal ->
                          journal.newestFirst().stream()
                              .filter(step -> step instanceof AssignsDevice)
                              .toList()))
              .isEmpty();
    }
  }

  private void apply(String descriptor) throws Exception {
    Path token = state().resolve("lab/guest-alice.token");
    List<Step> files =
        List.of(
            new MakeToken("alice", token, Optional.empty()),
            new GrantAccess("alice", "gpu0", token, tokens(), ""));
    host.apply(host.plan(descriptor), files);
  }

  private List<String> destroy() throws Exception {
    return takeBack("destroy", JournalState::newestFirst);
  }

  private List<String> takeBack(String command, Function<JournalState, List<Step>> choice)
      throws Exception {
    StateFolder lab = new StateFolder(SETUP, state().resolve("lab"));
    return new UndoRun(lab, command, new QuietProgress(), host.access)
        .run(choice, Consent.OWN)
        .errors();
  }

  private Path state() {
    return folder.resolve("state");
  }

  private Path tokens() {
    return state().resolve("lab/gpu-gpu0.tokens");
  }

  /** What is left of the state folders; of an empty one its name. */
  private List<String> left() throws IOException {
    try (Stream<Path> all = Files.walk(state())) {
      return all.filter(path -> !path.equals(state()))
          .map(path -> state().relativize(path).toString())
          .sorted()
          .toList();
    }
  }
}

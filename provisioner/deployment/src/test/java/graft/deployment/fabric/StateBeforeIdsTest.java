package graft.deployment.fabric;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import graft.common.disk.PrivateFiles;
import graft.common.values.Name;
import graft.deployment.apply.ApplyFailedException;
import graft.deployment.journal.Entry;
import graft.deployment.journal.JournalState;
import graft.deployment.observe.HostFacts.PageGrants;
import graft.deployment.step.Step;
import graft.hypervisors.libvirt.Guest;
import graft.hypervisors.libvirt.LibvirtHost;
import graft.hypervisors.libvirt.domain.Xml;
import graft.sriov.RamTempDirFactory;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * State folders that the last version wrote which named steps by their classes: what stands in them
 * can be undone, resumed and destroyed.
 */
class StateBeforeIdsTest {
  /**
   * The change of {@link RecordedDeployments#DEVICES} at which the recorded apply was interrupted.
   */
  private static final int INTERRUPTED_AT = 16;

  private static final Name SETUP = new Name("lab");

  @TempDir(factory = RamTempDirFactory.class)
  private Path folder;

  private String home;

  @BeforeEach
  void theProgramThatTheUnitNames() throws IOException {
    Path program = folder.resolve("opt/bin/graft");
    Files.createDirectories(program.getParent());
    Files.createFile(
        program,
        PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwxr-xr-x")));
    home = System.getProperty("graft.home", "");
    System.setProperty("graft.home", folder.resolve("opt").toString());
  }

  @AfterEach
  void theProgramOfOtherTests() {
    System.setProperty("graft.home", home);
  }

  @Test
  void devicesThatWereAppliedAreDestroyed() throws Exception {
    DeviceHost host = RecordedDeployments.devices(folder);
    SortedMap<String, String> first = host.fake.state();
    applied(host);
    assertThat(host.journal(SETUP).entries()).hasSize(11);
    assertThat(host.undo("lab")).isEmpty();
    assertThat(difference(first, host.fake.state())).isEmpty();
    assertThat(host.claims()).isEmpty();
    assertThat(host.journal(SETUP).isEmpty()).isTrue();
  }

  @Test
  void devicesThatWereAppliedNeedNothingMore() throws Exception {
    DeviceHost host = RecordedDeployments.devices(folder);
    applied(host);
    assertThat(DeviceHost.lines(host.plan(RecordedDeployments.DEVICES))).isEmpty();
  }

  @Test
  void theLastRunOnDevicesIsUndone() throws Exception {
    DeviceHost host = RecordedDeployments.devices(folder);
    SortedMap<String, String> first = host.fake.state();
    applied(host);
    assertThat(host.undo("lab", JournalState::lastRunNewestFirst)).isEmpty();
    assertThat(difference(first, host.fake.state())).isEmpty();
  }

  @Test
  void aChangeOfTheDescriptorTakesBackWhatNeedsIt() throws Exception {
    DeviceHost host = RecordedDeployments.devices(folder);
    SortedMap<String, String> first = host.fake.state();
    applied(host);
    String changed = RecordedDeployments.DEVICES.replace("vfs: 2", "vfs: 3");
    assertThat(catchThrowable(() -> host.plan(changed))).as("a function is in use").isNotNull();
    String without = RecordedDeployments.DEVICES.replace("vfs: [{adapter: ib0}]", "");
    host.apply(host.plan(without));
    host.apply(host.plan(without.replace("vfs: 2", "vfs: 3")));
    assertThat(host.undo("lab")).isEmpty();
    assertThat(difference(first, host.fake.state())).isEmpty();
  }

  @Test
  void anInterruptedApplyGoesOn() throws Exception {
    DeviceHost host = RecordedDeployments.devices(folder);
    SortedMap<String, String> first = host.fake.state();
    interrupted(host);
    assertThat(host.journal(SETUP).isPartial()).isTrue();
    host.apply(host.plan(RecordedDeployments.DEVICES));
    assertThat(DeviceHost.lines(host.plan(RecordedDeployments.DEVICES))).isEmpty();
    assertThat(host.undo("lab")).isEmpty();
    assertThat(difference(first, host.fake.state())).isEmpty();
    assertThat(host.claims()).isEmpty();
  }

  @Test
  void anInterruptedApplyIsDestroyed() throws Exception {
    DeviceHost host = RecordedDeployments.devices(folder);
    SortedMap<String, String> first = host.fake.state();
    interrupted(host);
    assertThat(host.undo("lab")).isEmpty();
    assertThat(difference(first, host.fake.state())).isEmpty();
    assertThat(host.claims()).isEmpty();
  }

  @Test
  void optionsOfAModuleAreTakenAway() throws Exception {
    DeviceHost host = RecordedDeployments.module(folder);
    SortedMap<String, String> first = host.fake.state();
    host.apply(host.plan(RecordedDeployments.MODULE));
    recorded("module");
    host.fake.reloadMlx4();
    assertThat(DeviceHost.lines(host.plan(RecordedDeployments.MODULE)))
        .isNotEmpty()
        .noneMatch(line -> line.startsWith("module"));
    assertThat(host.undo("lab")).isEmpty();
    host.fake.reloadMlx4();
    assertThat(difference(first, host.fake.state())).isEmpty();
  }

  @Test
  void theOtherStepsAreReadAsTheyWere() throws Exception {
    recorded("guest");
    DeviceHost host = RecordedDeployments.others(folder);
    assertThat(host.journal(SETUP).entries().values())
        .extracting(Entry::step)
        .containsExactlyElementsOf(RecordedDeployments.others(folder, RecordedDeployments.URI))
        .hasSize(24);
    assertThat(host.journal(SETUP).isPartial()).isFalse();
  }

  @Test
  void theOtherStepsThatNeedNoHypervisorAreDestroyed() throws Exception {
    DeviceHost host = guest();
    assertThat(host.undo("lab", journal -> withoutHypervisor(journal.newestFirst()))).isEmpty();
    assertThat(host.fake.read(PageGrants.LIMIT)).hasValue("1024");
    assertThat(files("state/lab")).containsExactly("guests", "journal.jsonl");
    assertThat(files("state/.granted-pages")).isEmpty();
  }

  /** libvirt's own test driver is a host with networks and guests. */
  @Test
  @Tag("integration")
  void aDeploymentWithGuestsIsDestroyed() throws Exception {
    DeviceHost host = guest();
    try (LibvirtHost libvirt = LibvirtHost.open(RecordedDeployments.URI)) {
      libvirt.networks().define(Xml.parse(RecordedDeployments.NETWORK_XML));
      libvirt.networks().start("graft-lab");
      Guest guest = libvirt.define(RecordedDeployments.GUEST_XML, true);
      guest.start();
      guest.undefine(Set.of()); // the test driver knows none of the flags that undo gives
      Files.writeString(folder.resolve("region"), "memory");

      assertThat(host.undo("lab", JournalState::lastRunNewestFirst)).isEmpty();
      assertThat(host.journal(SETUP).entries()).hasSize(23);
      assertThat(libvirt.guest("alice")).isPresent();

      assertThat(host.undo("lab")).isEmpty();
      assertThat(libvirt.guest("alice")).isEmpty();
      assertThat(libvirt.networks().find("graft-lab")).isEmpty();
    }
    assertThat(folder.resolve("region")).doesNotExist();
    assertThat(host.fake.read(PageGrants.LIMIT)).hasValue("1024");
    assertThat(files("state/lab")).containsExactly("guests", "journal.jsonl");
    assertThat(host.journal(SETUP).isEmpty()).isTrue();
  }

  private static List<String> difference(
      SortedMap<String, String> before, SortedMap<String, String> after) {
    SortedSet<String> names = new TreeSet<>(before.keySet());
    names.addAll(after.keySet());
    return names.stream()
        .filter(name -> !Objects.equals(before.get(name), after.get(name)))
        .map(name -> name + ": " + before.get(name) + ", " + after.get(name))
        .toList();
  }

  private static List<Step> withoutHypervisor(List<Step> steps) {
    return steps.stream()
        .filter(
            step ->
                Arrays.stream(step.getClass().getRecordComponents())
                    .noneMatch(component -> component.getName().equals("uri")))
        .toList();
  }

  private void applied(DeviceHost host) throws Exception {
    host.apply(host.plan(RecordedDeployments.DEVICES));
    recorded("applied");
  }

  private void interrupted(DeviceHost host) throws Exception {
    host.fake.faults().failChange(INTERRUPTED_AT, true);
    assertThat(catchThrowable(() -> host.applyAndStop(host.plan(RecordedDeployments.DEVICES))))
        .isInstanceOf(ApplyFailedException.class);
    host.fake.faults().none();
    recorded("interrupted");
  }

  private DeviceHost guest() throws Exception {
    DeviceHost host = RecordedDeployments.others(folder);
    host.fake.file(PageGrants.LIMIT, "32768");
    recorded("guest");
    return host;
  }

  private List<String> files(String path) throws IOException {
    try (Stream<Path> files = Files.list(folder.resolve(path))) {
      return files.map(file -> file.getFileName().toString()).sorted().toList();
    }
  }

  /** Puts a recorded state folder in the place of the present one. */
  private void recorded(String name) throws Exception {
    Path state = folder.resolve("state");
    PrivateFiles.deleteFolder(state);
    Path from = Path.of(StateBeforeIdsTest.class.getResource("/state-before-ids/" + name).toURI());
    try (Stream<Path> all = Files.walk(from)) {
      for (Path file : all.sorted().toList()) {
        Path to = state.resolve(from.relativize(file).toString());
        if (Files.isDirectory(file)) {
          Files.createDirectories(to);
        } else {
          String text = Files.readString(file);
          Files.writeString(to, text.replace(RecordedDeployments.PLACEHOLDER, folder.toString()));
        }
      }
    }
  }
}

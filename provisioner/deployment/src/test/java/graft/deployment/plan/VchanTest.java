package graft.deployment.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import graft.common.values.Name;
import graft.deployment.InstalledGraft;
import graft.deployment.observe.DeviceFacts;
import graft.deployment.observe.DeviceObserver;
import graft.deployment.observe.Known;
import graft.deployment.observe.LibvirtFacts;
import graft.deployment.step.guest.BringsPayload;
import graft.guests.payload.PayloadFile;
import graft.sriov.fake.FakeDevice;
import graft.sriov.fake.FakeSysfs;
import graft.sriov.vf.HostAccess;
import graft.sriov.vf.TimeLimits;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** What a guest of Xen gets for vchan, and when it does not. */
class VchanTest {
  @TempDir Path folder;
  @RegisterExtension final InstalledGraft installed = new InstalledGraft();

  private static final String ONE =
      """
      graft: 1
      name: lab
      gpus: [{name: gpu0, device: software}]
      guests:
        - name: alice
          kernel: {image: vmlinuz, initramfs: initramfs.cpio}
          memory: 256MiB
          networks: [default]
          vgpu: {gpu: gpu0, memory: 1GiB}
      """;
  private static final String TWO =
      ONE + ONE.substring(ONE.indexOf("  - name: alice")).replace("alice", "bob");

  private static final String CAPABILITIES = "pv hvm hvm_directio pv_directio hap shadow";

  private final FakeHost host =
      new FakeHost().file("/d/vmlinuz").file("/d/initramfs.cpio").file("/d/debian.qcow2");

  private static String with(String channel) {
    return ONE.replace("memory: 1GiB", "memory: 1GiB, channel: " + channel);
  }

  private static Stream<PayloadFile> files(Plan plan) {
    return plan.actions().stream()
        .map(Action::step)
        .filter(BringsPayload.class::isInstance)
        .flatMap(step -> ((BringsPayload) step).payload().files().stream());
  }

  private static List<String> rights(Plan plan) {
    return files(plan).map(PayloadFile::path).filter(path -> path.contains("granted")).toList();
  }

  private static List<String> limit(Plan plan) {
    return plan.actions().stream()
        .filter(action -> action.step().name().equals("limit"))
        .map(Action::toString)
        .toList();
  }

  @Test
  void aGuestOfXenTriesItBeforeTheNetwork() throws Exception {
    Plan plan = host.xen(CAPABILITIES).gntalloc().plan(ONE);
    assertThat(plan.toText())
        .contains("module xen_gntalloc\n    + let this host share up to 32768 pages with guests")
        .contains(
            "+ grant it access to 'gpu0' (memory=1073741824 guest-memory=1073741824"
                + " domain=alice)\n")
        .contains("(1 CPU, 256MiB, channels vchan, tcp)")
        .contains("start its server at tcp://192.168.122.1:8692 (");
    assertThat(files(plan).flatMap(file -> file.text().stream()))
        .anyMatch(
            text ->
                text.contains("server = vchan://192.168.122.1:8692, tcp://192.168.122.1:8692\n"));
    assertThat(plan.warnings()).noneMatch(warning -> warning.contains("over the network"));
    host.carryOut(plan);
    assertThat(host.plan(ONE).actions()).isEmpty();
  }

  @Test
  void aVirtualFunctionComesFirst(@TempDir Path folder) throws Exception {
    FakeSysfs fake = new FakeSysfs(folder);
    fake.loadDriver("pciback").add(FakeDevice.mlx5("0000:3b:00.0", 8));
    DeviceFacts devices =
        new DeviceObserver(
                new HostAccess(fake, fake.links(), TimeLimits.DEFAULT), folder.resolve("claims"))
            .observe(
                new Name("lab"),
                Known.NOTHING,
                () -> LibvirtFacts.unreachable("xen:///system", ""));
    String function =
        ONE.replace(
                "guests:", "fabric: {adapters: [{name: ib0, device: mlx5_3b_0, vfs: 1}]}\nguests:")
            + "    virtualization: pv\n    vfs: [{adapter: ib0}]\n";
    host.xen(CAPABILITIES).gntalloc().ucx().devices(devices);
    String allowed = function.replace("memory: 1GiB}", "memory: 1GiB, unencrypted: [rdma]}");
    assertThat(host.plan(allowed).toText()).contains("channels rdma, vchan, tcp)");
    Plan encrypted = host.plan(function);
    assertThat(encrypted.toText()).contains("channels vchan, tcp)");
    assertThat(encrypted.warnings())
        .anyMatch(warning -> warning.contains("'alice' does not use rdma over its virtual"));
  }

  @Test
  void itsUsersMayMapWhatTheServerGrants() throws Exception {
    assertThat(rights(host.xen(CAPABILITIES).gntalloc().plan(ONE)))
        .containsExactly(
            "/etc/graft/boot.d/10-granted-pages",
            "/etc/modules-load.d/graft-granted-pages.conf",
            "/etc/udev/rules.d/70-graft-granted-pages.rules");
  }

  @Test
  void theHostHasToHaveWhatGrants() throws Exception {
    Plan plan = host.xen(CAPABILITIES).plan(ONE);
    assertThat(plan.warnings())
        .contains(
            "the guest 'alice' reaches its GPU over the network: /dev/xen/gntalloc is not there or"
                + " may not be used (modprobe xen-gntalloc)");
    assertThat(plan.toText()).contains("channels tcp)").doesNotContain("xen_gntalloc", "domain=");
    assertThat(rights(plan)).isEmpty();
    assertThat(host.withoutEventChannels().plan(ONE).warnings())
        .contains(
            "the guest 'alice' reaches its GPU over the network: /dev/xen/evtchn is not there or"
                + " may not be used (modprobe xen-evtchn)");
    assertThatThrownBy(() -> host.plan(with("vchan")))
        .isInstanceOf(UnfitHostException.class)
        .hasMessageContaining("the guest cannot use vchan: /dev/xen/evtchn is not there");
  }

  @Test
  void aGuestOfQemuHearsNothingOfXen() throws Exception {
    assertThat(host.gntalloc().sharedMemory(0).plan(ONE).warnings())
        .contains(
            "the guest 'alice' reaches its GPU over the network: /dev/shm has 0B free, and the"
                + " region takes 128MiB; /dev/vhost-vsock is not there or may not be used (modprobe"
                + " vhost_vsock)");
    assertThatThrownBy(() -> host.plan(with("vchan")))
        .isInstanceOf(UnfitHostException.class)
        .hasMessageContaining(
            "the guest cannot use vchan: only guests of Xen on this host share pages with its"
                + " server");
  }

  @Test
  void aServerInAGuestGrantsNothing() throws Exception {
    Plan plan =
        host.xen(CAPABILITIES)
            .gntalloc()
            .distribution()
            .plan(
                """
                graft: 1
                name: lab
                gpus: [{name: gpu0, device: software, owner: "guest:owner"}]
                guests:
                  - {name: owner, image: debian.qcow2, networks: [default]}
                  - {name: alice, image: debian.qcow2, networks: [default], vgpu: gpu0}
                """);
    assertThat(plan.warnings())
        .contains(
            "the guest 'alice' reaches its GPU over the network: its server is in another guest");
    assertThat(limit(plan)).isEmpty();
    assertThat(rights(plan)).isEmpty();
  }

  @Test
  void aGuestThatNamesAChannelHasThatAlone() throws Exception {
    host.xen(CAPABILITIES).gntalloc();
    assertThat(host.plan(with("vchan")).toText())
        .contains("channels vchan)")
        .contains("domain=alice");
    Plan tcp = host.plan(with("tcp"));
    assertThat(tcp.toText()).contains("channels tcp)").doesNotContain("domain=");
    assertThat(limit(tcp)).isEmpty();
    assertThat(rights(tcp)).isEmpty();
  }

  @Test
  void theLimitIsRaisedOnceAndGoesWithTheLastGuest() throws Exception {
    host.xen(CAPABILITIES).gntalloc();
    host.carryOut(host.plan(ONE));
    Plan more = host.plan(TWO);
    assertThat(limit(more)).isEmpty();
    host.carryOut(more);
    assertThat(limit(host.plan(with("tcp"))))
        .containsExactly(
            "- undo: let this host share up to 32768 pages with guests, for vchan (no longer in the"
                + " descriptor)");
  }

  @Test
  void theLimitIsRaisedAgainAfterABoot() throws Exception {
    host.xen(CAPABILITIES).gntalloc();
    host.carryOut(host.plan(ONE)).gntalloc();
    assertThat(host.plan(ONE).actions())
        .extracting(Action::toString)
        .containsExactly(
            "+ let this host share up to 32768 pages with guests, for vchan (gone from the host)");
  }

  @Test
  void itsServerNeedsNoRoot() throws Exception {
    installed.in(folder);
    Plan plan = host.xen(CAPABILITIES).gntalloc().plan(ONE);
    assertThat(plan.warnings()).noneMatch(warning -> warning.contains("as root"));
    assertThat(plan.toText()).contains("as user 'graft'").contains("channels vchan, tcp)");
  }
}

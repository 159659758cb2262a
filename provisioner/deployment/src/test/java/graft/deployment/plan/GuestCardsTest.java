package graft.deployment.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import graft.deployment.descriptor.Identities;
import graft.deployment.step.guest.DefineGuest;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Which networks guests are on, and what is said about them. */
class GuestCardsTest {
  private static final String CLOSED =
      """
      graft: 1
      name: lab
      gpus: [{name: gpu0, device: software}]
      guests: [{name: alice, image: debian.qcow2, vgpu: gpu0}]
      """;

  private static final String OPEN = CLOSED.replace("vgpu: gpu0}", "vgpu: gpu0, networks: [user]}");
  private static final String NAMED = OPEN.replace("[user]", "[closed]");
  private static final String BRIDGED = OPEN.replace("[user]", "[default]");

  private final FakeHost host = new FakeHost().file("/d/debian.qcow2");

  /** The cards of alice's domain. */
  private static String cards(Plan plan) {
    String xml =
        plan.actions().stream()
            .map(Action::step)
            .filter(DefineGuest.class::isInstance)
            .map(step -> ((DefineGuest) step).xml())
            .findFirst()
            .orElseThrow();
    int from = xml.indexOf("    <interface");
    return from < 0 ? "" : xml.substring(from, xml.lastIndexOf("</interface>") + 13);
  }

  @Test
  void aGuestWithoutNetworksReachesItsServerAlone() throws Exception {
    Plan plan = host.plan(CLOSED);
    assertThat(cards(plan))
        .isEqualTo(
            """
                <interface type='client'>
                  <source address='127.0.0.1' port='8693'/>
                  <mac address='%s'/>
                  <model type='virtio'/>
                  <rom enabled='no'/>
                </interface>
            """
                .formatted(Identities.mac("lab", "alice", 0)));
    assertThat(plan.toText())
        .contains(
            "+ start the network on which guests reach tcp://127.0.0.1:8692 and nothing else");
    assertThat(String.valueOf(plan.toTree())).contains("tcp://10.0.2.2:8692");
    assertThat(plan.warnings()).noneMatch(warning -> warning.contains("network,"));
    assertThat(cards(host.plan(NAMED))).isEqualTo(cards(plan));
    host.carryOut(plan);
    assertThat(host.plan(CLOSED).actions()).isEmpty();
    assertThat(host.plan(NAMED).actions()).isEmpty();
  }

  @Test
  void aGuestWithoutVGpuHasNothingToReach() throws Exception {
    Plan plan = host.plan(CLOSED.replace(", vgpu: gpu0", ""));
    assertThat(cards(plan)).isEmpty();
    assertThat(plan.toText()).doesNotContain("network");
  }

  @Test
  void packagesThatAClosedNetworkCannotBringAreSaid() throws Exception {
    assertThat(packageWarnings(CLOSED.replace("image:", "setup: {bundles: [infiniband]}, image:")))
        .singleElement()
        .asString()
        .startsWith("the guest 'alice' cannot fetch the packages of its bundle 'infiniband'");
    for (String open : new String[] {OPEN, BRIDGED}) {
      assertThat(packageWarnings(open.replace("image:", "setup: {bundles: [infiniband]}, image:")))
          .isEmpty();
    }
    assertThat(packageWarnings(CLOSED)).isEmpty();
  }

  private List<String> packageWarnings(String descriptor) throws Exception {
    return host.plan(descriptor).warnings().stream()
        .filter(warning -> warning.contains("packages"))
        .toList();
  }

  @Test
  void anOpenNetworkIsAWordAway() throws Exception {
    Plan plan = host.plan(OPEN);
    assertThat(cards(plan)).contains("type='user'");
    assertThat(plan.toText()).doesNotContain("nothing else");
    assertThat(plan.warnings()).noneMatch(warning -> warning.contains("open network"));
  }

  @Test
  void aGuestOfAnEarlierVersionKeepsItsOpenNetworkUntilTheDescriptorClosesIt() throws Exception {
    host.carryOut(host.plan(OPEN));
    Plan kept = host.plan(CLOSED);
    assertThat(kept.actions()).isEmpty();
    assertThat(kept.warnings())
        .contains(
            "the guest 'alice' has an open network, with what this host reaches, also at its"
                + " loopback: it has it from an earlier apply (close it with networks: [closed])");
    assertThat(host.plan(NAMED).actions())
        .extracting(action -> action.kind() + " " + action.step().name())
        .contains("DO closed-network", "UNDO define", "DO define")
        .doesNotContain("UNDO server", "UNDO disk-root");
  }

  @Test
  void whereANetworkCannotBeClosedThePlanSaysThatItIsOpen() throws Exception {
    host.withoutClosedNetworks("libslirp.so.0 is not installed (Debian: libslirp0)");
    Plan plan = host.plan(CLOSED);
    assertThat(cards(plan)).contains("type='user'");
    assertThat(plan.warnings())
        .contains(
            "the guest 'alice' has an open network, with what this host reaches, also at its"
                + " loopback: libslirp.so.0 is not installed (Debian: libslirp0)");
    assertThatThrownBy(() -> host.plan(NAMED))
        .isInstanceOf(UnfitHostException.class)
        .hasMessageContaining("the guest cannot have a closed network: libslirp.so.0");
  }

  @Test
  void theServerOfANodeIsReachedThroughTheClosedNetwork() throws Exception {
    Plan plan =
        host.file("/d/node.token")
            .plan(
                CLOSED
                    .replace("device: software", "owner: \"node:far\"")
                    .replace(
                        "graft: 1\n",
                        "graft: 1\n"
                            + "nodes: [{name: far, server: \"tcp://gpu.example:7799\", token-file:"
                            + " node.token}]\n"));
    assertThat(plan.toText())
        .contains(
            "+ start the network on which guests reach tcp://gpu.example:7799 and nothing else");
    assertThat(String.valueOf(plan.toTree())).contains("tcp://10.0.2.2:7799");
  }

  @Test
  void aClosedNetworkThatEndedIsStartedAgain() throws Exception {
    host.carryOut(host.plan(CLOSED)).networkDied();
    assertThat(host.plan(CLOSED).actions())
        .extracting(action -> action.kind() + " " + action.step().id())
        .containsExactly("DO server/gpu0/closed-network");
  }

  @Test
  void guestsOnNetworksOfLibvirtSendWithTheirOwnAddresses() throws Exception {
    assertThat(cards(host.plan(BRIDGED)))
        .isEqualTo(
            """
                <interface type='network'>
                  <source network='default'/>
                  <mac address='%1$s'/>
                  <model type='virtio'/>
                  <filterref filter='clean-traffic'>
                    <parameter name='MAC' value='%1$s'/>
                  </filterref>
                  <rom enabled='no'/>
                </interface>
            """
                .formatted(Identities.mac("lab", "alice", 0)));
  }

  @Test
  void aFilterCanBeTurnedOff() throws Exception {
    Plan plan = host.plan(BRIDGED.replace("[default]", "[{network: default, filter: false}]"));
    assertThat(cards(plan)).contains("network='default'").doesNotContain("filterref");
    assertThat(plan.warnings()).noneMatch(warning -> warning.contains("addresses of others"));
  }

  @Test
  void whereLibvirtCannotFilterThePlanSaysSo() throws Exception {
    String wanted = BRIDGED.replace("[default]", "[{network: default, filter: true}]");
    Plan plan = host.withoutFilters().plan(BRIDGED);
    assertThat(cards(plan)).doesNotContain("filterref");
    assertThat(plan.warnings())
        .contains(
            "the guest 'alice' can send with addresses of others on the network 'default': libvirt"
                + " has no filter clean-traffic here (Debian: libvirt-daemon-config-nwfilter, then"
                + " restart libvirtd)");
    assertThatThrownBy(() -> host.plan(wanted))
        .isInstanceOf(UnfitHostException.class)
        .hasMessageContaining("the traffic of the guest cannot be filtered: libvirt has no filter");
  }

  @Test
  void macvtapIsNotFiltered() throws Exception {
    Plan plan = host.macvtap("wire").plan(BRIDGED.replace("[default]", "[wire]"));
    assertThat(cards(plan)).contains("network='wire'").doesNotContain("filterref");
    assertThat(plan.warnings())
        .anyMatch(w -> w.endsWith("libvirt filters only at bridges of Linux"));
  }

  @Test
  void aGuestOfAnEarlierVersionStaysUnfilteredUntilTheDescriptorFiltersIt() throws Exception {
    host.withoutFilters().carryOut(host.plan(BRIDGED)).withFilters();
    Plan kept = host.plan(BRIDGED);
    assertThat(kept.actions()).isEmpty();
    assertThat(kept.warnings())
        .anyMatch(w -> w.contains("from an earlier apply (filter it with filter: true)"));
    assertThat(
            host.plan(BRIDGED.replace("[default]", "[{network: default, filter: true}]")).actions())
        .extracting(action -> action.kind() + " " + action.step().name())
        .contains("DO define");
  }

  @Test
  void xenHasNoFilters() throws Exception {
    Plan plan = host.xen("pv hvm").plan(BRIDGED);
    assertThat(cards(plan)).contains("network='default'").doesNotContain("filterref");
    String wanted = BRIDGED.replace("[default]", "[{network: default, filter: true}]");
    assertThatThrownBy(() -> host.plan(wanted)).hasMessageContaining("xen has no filters");
  }

  @Test
  void wordsThatDoNotFitAreRefused() {
    assertThatThrownBy(() -> host.plan(NAMED.replace("vgpu: gpu0, ", "")))
        .hasMessageContaining("a closed network reaches the server of a vGPU");
    assertThatThrownBy(() -> host.plan(OPEN.replace("[user]", "[{network: user, filter: true}]")))
        .hasMessageContaining("'filter' is for cards on networks of libvirt's");
    assertThatThrownBy(
            () -> host.plan(CLOSED + "networks: [{name: closed, address: 192.168.150.1/24}]\n"))
        .hasMessageContaining("'closed' stands for");
  }
}

package graft.deployment.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

/** Which guests encrypt what they send to their server, and what has to be allowed. */
class EncryptionTest {
  private static final String GUEST =
      """
      graft: 1
      name: lab
      gpus: [{name: gpu0, device: software}]
      guests:
        - name: alice
          image: debian.qcow2
          memory: 1GiB
          networks: [%s]
          vgpu: {gpu: gpu0%s}
      """;
  private static final String NEVER = "encryption = never\n";
  private static final String OPTIONAL = "encryption=optional";

  private final FakeHost host = new FakeHost().file("/d/debian.qcow2");

  private String tree(String network, String more) throws Exception {
    String tree = String.valueOf(host.plan(GUEST.formatted(network, more)).toTree());
    assertThat(tree).contains("# Written by graft.");
    return tree;
  }

  @Test
  void qemusUserNetworkHasNoWireAndNeedsNone() throws Exception {
    assertThat(tree("user", "")).contains(NEVER).doesNotContain(OPTIONAL);
  }

  @Test
  void aGuestOnANetworkEncrypts() throws Exception {
    assertThat(tree("default", "")).doesNotContain(NEVER, OPTIONAL);
  }

  @Test
  void bothEndsAreToldThatTcpMayBeUnencrypted() throws Exception {
    assertThat(tree("default", ", unencrypted: [tcp]")).contains(NEVER, OPTIONAL);
    assertThat(tree("default", ", unencrypted: [rdma]")).doesNotContain(NEVER, OPTIONAL);
  }

  @Test
  void onlyWhatGoesOverANetworkCanBeUnencrypted() {
    assertThatThrownBy(() -> tree("default", ", unencrypted: [tcp, vsock]"))
        .isInstanceOf(UnfitHostException.class)
        .hasMessageContaining("only tcp and rdma send data over a network, not all of tcp, vsock");
  }

  @Test
  void rdmaHasToBeAllowedSinceItIsNotEncrypted() throws Exception {
    host.ucx();
    assertThatThrownBy(() -> tree("default", ", channel: rdma"))
        .isInstanceOf(UnfitHostException.class)
        .hasMessageContaining("the guest cannot use rdma: rdma does not encrypt bulk data")
        .hasMessageContaining("unencrypted: [rdma]");
    assertThat(tree("default", ", channel: rdma, unencrypted: [rdma]")).contains("rdma://");
  }
}

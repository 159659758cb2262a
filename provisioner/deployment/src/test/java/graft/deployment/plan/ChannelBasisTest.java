package graft.deployment.plan;

import static org.assertj.core.api.Assertions.assertThat;

import graft.common.values.MemorySize;
import graft.common.values.TimeSpan;
import graft.deployment.step.Step;
import graft.deployment.step.device.AttachDevice;
import graft.deployment.step.guest.BuildSeed;
import graft.deployment.step.guest.InstallByAgent;
import graft.deployment.step.guest.MakeRegion;
import graft.guests.payload.Payload;
import graft.guests.payload.PayloadFile;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** What a guest's steps say of its channels. */
class ChannelBasisTest {
  private static final String RDMA =
      "server = rdma://a:1, tcp://a:1\nrdma-ports = 02:00:00:00:00:01\nname = alice\n";

  private static Payload payload(String configuration) {
    return new Payload(
        "alice",
        List.of(PayloadFile.text(configuration, Payload.CLIENT_CONFIGURATION, 0644)),
        List.of(),
        List.of(),
        List.of());
  }

  private static Step seed(String configuration) {
    return new BuildSeed(
        "alice", "i", payload(configuration), Optional.empty(), Optional.empty(), Path.of("/s"));
  }

  private static Step agent(String configuration) {
    return new InstallByAgent(
        "qemu:///system",
        "alice",
        "u",
        payload(configuration),
        Optional.empty(),
        TimeSpan.parse("1m"));
  }

  private static Step attach(String device) {
    return new AttachDevice("qemu:///system", "alice", "u", device, Optional.empty());
  }

  @Test
  void addressesPortsDevicesAndTheRegion() {
    Step region =
        new MakeRegion(
            "qemu:///system",
            "alice",
            Path.of("/dev/shm/r"),
            MemorySize.parse("64MiB"),
            Optional.empty());
    assertThat(ChannelBasis.of(List.of(region, seed(RDMA), attach("0000:65:00.1"))))
        .containsExactly(
            "a region of 64MiB",
            "rdma-ports = 02:00:00:00:00:01",
            "rdma://a:1",
            "tcp://a:1",
            "the device 0000:65:00.1");
  }

  @Test
  void devicesAreOfNoAccountWithoutRdma() {
    assertThat(ChannelBasis.of(List.of(seed("server = tcp://a:1\n"), attach("0000:65:00.1"))))
        .containsExactly("tcp://a:1");
  }

  @Test
  void whatTheAgentBroughtComesAfterTheSeed() {
    assertThat(ChannelBasis.addresses(List.of(seed(RDMA), agent("server = vsock://2:1\n"))))
        .containsExactly("vsock://2:1");
    assertThat(ChannelBasis.addresses(List.of(attach("0000:65:00.1")))).isEmpty();
  }
}

package graft.deployment.step.guest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import graft.common.values.TimeSpan;
import graft.common.values.UserName;
import graft.deployment.apply.Steps;
import graft.deployment.step.StepCodec;
import graft.guests.connection.HostAddress;
import graft.guests.connection.SshLogin;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** How a journal keeps the login by which a guest is verified. */
class VerifyCudaTest {
  private static final Path KNOWN = Path.of("/var/lib/graft/a/disk.qcow2.known-hosts");

  @Test
  void aJournalTellsAnAddressAndAUserAsTextAndAHostileOneIsRefused() {
    VerifyCuda step =
        new VerifyCuda(
            "qemu:///system",
            "a",
            "u",
            Optional.of(
                new SshLogin(
                    new UserName("admin"),
                    Optional.of(new HostAddress("192.0.2.5")),
                    22,
                    Optional.empty(),
                    KNOWN)),
            false,
            TimeSpan.parse("1m"));
    Map<String, Object> tree = new LinkedHashMap<>(StepCodec.write(step));
    Map<String, Object> hostile = new LinkedHashMap<>();
    ((Map<?, ?>) tree.get("ssh")).forEach((key, value) -> hostile.put((String) key, value));
    assertThat(hostile)
        .as("as earlier journals have them")
        .containsEntry("user", "admin")
        .containsEntry("address", "192.0.2.5");
    hostile.put("address", "-oProxyCommand=touch /tmp/x");
    tree.put("ssh", hostile);
    assertThatThrownBy(() -> Steps.CODEC.read("verify-cuda", tree))
        .isInstanceOf(IllegalArgumentException.class);
  }
}

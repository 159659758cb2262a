package graft.distribution;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfEnvironmentVariable;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.api.parallel.ResourceAccessMode;
import org.junit.jupiter.api.parallel.ResourceLock;

/**
 * The example {@code vm-local.yaml}: one guest owns a GPU, the software device, and serves it to
 * its neighbour over the virtual network.
 */
@Tag("integration")
@EnabledIfEnvironmentVariable(named = GuestLab.IMAGE, matches = ".+")
@Execution(ExecutionMode.CONCURRENT)
@ResourceLock(GuestLab.CORE)
@ResourceLock(value = UnprivilegedServerTest.USER, mode = ResourceAccessMode.READ)
final class CloudGuestsTest {
  private static final String CHECK = "/usr/lib/graft/graft-verify --no-measure";

  @TempDir Path folder;
  private GuestLab lab;
  private String user;

  @BeforeEach
  void describe() throws Exception {
    lab = GuestLab.in(folder);
    user = lab.name() + "-user";
    Files.writeString(
        folder.resolve("users.yaml"),
        "#cloud-config\nusers: [{name: member, groups: video}, {name: stranger}]\n");
    Files.writeString(
        lab.descriptor(),
        Files.readString(Checkout.ROOT.resolve("examples/vm-local.yaml"))
            .replace("vm-local", lab.name())
            .replace("gpu-owner", lab.name() + "-owner")
            .replace("gpu-user", user)
            .replace("192.168.150.1", lab.gateway())
            .replace("image: debian:12", "image: " + GuestLab.image())
            .replace("group: video", "group: video, user-data: users.yaml"));
  }

  @AfterEach
  void takeAway() throws Exception {
    lab.destroy();
  }

  @Test
  void aGuestServesItsNeighbour() throws Exception {
    String descriptor = lab.descriptor().toString();
    lab.graft(0, "apply", descriptor);
    assertThat(lab.graft(0, "apply", descriptor)).contains("nothing to do");

    assertThat(lab.graft(0, "verify", descriptor))
        .contains("ok on Graft software device 0 at tcp://" + lab.name() + "-owner:")
        .containsPattern("round trip: [0-9.]+ us")
        .contains("this Graft's");
    assertThat(lab.graft(0, "verify", "--channels", user))
        .containsPattern("tcp +tcp://" + lab.name() + "-owner:[0-9]+ +[0-9.]+ +[0-9.]+ .* ok");

    theServerHasNoPrivileges(lab.name() + "-owner");

    // The GPU works for another user and in services, but not for a user outside the
    // descriptor's group.
    assertThat(lab.inGuest(user, "su member -s /bin/sh -c '" + CHECK + "'")).contains("result=ok");
    assertThat(lab.inGuest(user, "su stranger -s /bin/sh -c '" + CHECK + "' 2>&1 || true"))
        .contains("only root and the group that the descriptor names may read it");
    String service = "systemd-run --quiet --wait --pipe ";
    assertThat(lab.inGuest(user, service + CHECK)).contains("result=ok");
    assertThat(lab.inGuest(user, service + "-p User=member " + CHECK)).contains("result=ok");
    assertThat(
            lab.inGuest(
                user,
                "python3 -m venv --without-pip /tmp/v && /tmp/v/bin/python -c '" + PYTHON + "'"))
        .contains("cuInit 0");

    lab.graft(0, "revoke", lab.name(), user);
    assertThat(lab.graft(1, "verify", descriptor))
        .contains("does not know this name with this token");
    lab.graft(0, "rotate", lab.name());
    lab.graft(0, "apply", descriptor);
    assertThat(lab.inGuest(user, CHECK)).contains("result=ok");

    assertThat(lab.graft(1, "destroy", descriptor))
        .contains("would delete data, and nothing was changed: the disk 'root' of " + lab.name())
        .contains("graft destroy --delete-data deletes it");
    assertThat(lab.inGuest(user, CHECK)).contains("result=ok");
    theServerHasNoPrivileges(lab.name() + "-owner");
  }

  /** The server of a guest runs as on a host: as its own user, beside a starter of root. */
  private void theServerHasNoPrivileges(String owner) throws Exception {
    String process = "/proc/$(systemctl show --value -p MainPID %s.service)";
    String server = process.formatted("graft-server");
    assertThat(lab.inGuest(owner, "stat -c %U " + server)).isEqualTo("graft\n");
    assertThat(lab.inGuest(owner, "stat -c %U " + process.formatted("graft-starter")))
        .isEqualTo("root\n");
    assertThat(lab.inGuest(owner, "grep -E '^(CapEff|CapBnd|NoNewPrivs)' " + server + "/status"))
        .isEqualTo("CapEff:\t%1$s\nCapBnd:\t%1$s\nNoNewPrivs:\t1\n".formatted("0".repeat(16)));
    assertThat(lab.inGuest(owner, "stat -c '%a %U:%G' /etc/graft/server.tokens"))
        .isEqualTo("600 graft:graft\n");
  }

  private static final String PYTHON =
      "import ctypes; print(\"cuInit\", ctypes.CDLL(\"libcuda.so.1\").cuInit(0))";
}

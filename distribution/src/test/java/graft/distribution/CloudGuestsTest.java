package graft.distribution;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfEnvironmentVariable;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.api.parallel.ResourceLock;

/**
 * The example {@code vm-local.yaml}: one guest owns a GPU, the software device, and serves it to
 * its neighbour over the virtual network. Ansible sets the neighbour up over SSH; its users and
 * containers have the GPU.
 */
@Tag("integration")
@EnabledIfEnvironmentVariable(named = GuestLab.IMAGE, matches = ".+")
@Execution(ExecutionMode.CONCURRENT)
@ResourceLock(Lanes.OTHERS)
final class CloudGuestsTest {
  private static final String PROGRAM = "/usr/local/bin/loop";
  private static final String CHECK = "/usr/lib/graft/graft-verify --no-measure";

  @TempDir Path folder;
  private GuestLab lab;
  private String user;

  @BeforeEach
  void describe() throws Exception {
    lab = GuestLab.in(folder);
    user = lab.name() + "-user";
    lab.compileLoop();
    lab.run(0, List.of("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", "key"));
    Files.writeString(
        folder.resolve("users.yaml"),
        """
        #cloud-config
        users:
          - {name: admin, sudo: "ALL=(ALL) NOPASSWD:ALL", ssh_authorized_keys: ["%1$s"]}
          - {name: member, groups: video, ssh_authorized_keys: ["%1$s"]}
          - {name: stranger}
        """
            .formatted(Files.readString(folder.resolve("key.pub")).strip()));
    String overSsh =
        "way: auto, group: video, user-data: users.yaml, ssh: {user: admin, key: key},"
            + " files: [{source: loop, path: %s, mode: 0755}]".formatted(PROGRAM);
    Files.writeString(
        lab.descriptor(),
        Files.readString(Checkout.ROOT.resolve("examples/vm-local.yaml"))
            .replace("vm-local", lab.name())
            .replace("gpu-owner", lab.name() + "-owner")
            .replace("gpu-user", user)
            .replace("192.168.150.1", lab.gateway())
            .replace("image: debian:12", "image: " + GuestLab.image())
            .replace("way: agent, group: video", overSsh));
  }

  @AfterEach
  void takeAway() throws Exception {
    lab.destroy();
  }

  @Test
  void aGuestServesItsNeighbour() throws Exception {
    String descriptor = lab.descriptor().toString();
    assertThat(lab.graft(0, "plan", descriptor))
        .contains("is set up by SSH and Ansible: a login is given, and Ansible is installed");
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
    assertThat(lab.run(0, ssh("member", CHECK))).contains("result=ok");
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

    containersHaveTheGpuThatTheyAskFor();
    aRealDriverIsKept();

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

  /** Uses the CDI specification, whose hook updates the container's loader cache. */
  private void containersHaveTheGpuThatTheyAskFor() throws Exception {
    lab.inGuest(
        user,
        """
        set -e
        mkdir -p /srv/root/bin /srv/root/sbin /srv/root/etc /srv/root/lib64 /srv/root/proc /srv/root/sys /srv/root/dev
        mkdir -p /srv/root/run /srv/root/tmp /srv/root/lib/x86_64-linux-gnu
        cp -L /lib64/ld-linux-x86-64.so.2 /srv/root/lib64/
        cp -L /lib/x86_64-linux-gnu/libc.so.6 /srv/root/lib/x86_64-linux-gnu/
        cp %s /srv/root/bin/
        echo 'include /etc/ld.so.conf.d/*.conf' >/srv/root/etc/ld.so.conf
        """
            .formatted(PROGRAM));
    String run =
        "podman run --rm --network=host --security-opt seccomp=unconfined %s --rootfs /srv/root /bin/loop 3 2>&1";
    assertThat(lab.inGuest(user, run.formatted("") + " || true"))
        .contains("libcuda.so.1: cannot open shared object file");
    String withGpu = run.formatted("--device graft/vgpu=all");
    assertThat(lab.inGuest(user, withGpu + " || true"))
        .contains("has to be encrypted", "libssl3")
        .doesNotContain("Read-only");
    lab.inGuest(
        user,
        "cd /lib/x86_64-linux-gnu && cp -L libssl.so.3 libcrypto.so.3 /srv/root/lib/x86_64-linux-gnu/");
    assertThat(lab.inGuest(user, withGpu)).contains("cuInit 0\nlooping\nended 0");
  }

  /**
   * A guest with NVIDIA's driver uses that driver, and Graft's client after the driver is removed.
   */
  private void aRealDriverIsKept() throws Exception {
    String driver = "/usr/lib/x86_64-linux-gnu/libcuda.so.1";
    String loaded =
        "python3 -c 'import ctypes, re; ctypes.CDLL(\"libcuda.so.1\");"
            + " print(re.search(\"/.*libcuda.*\", open(\"/proc/self/maps\").read())[0])'";
    lab.inGuest(user, "cp /usr/lib/graft/libcuda.so.1 " + driver + " && ldconfig");
    assertThat(lab.inGuest(user, loaded)).contains("x86_64-linux-gnu/libcuda.so.1");
    lab.inGuest(user, "rm " + driver + " && ldconfig");
    assertThat(lab.inGuest(user, loaded)).contains("/usr/lib/graft/libcuda.so.1");
  }

  private List<String> ssh(String member, String command) throws Exception {
    return List.of(
        "ssh",
        "-o",
        "BatchMode=yes",
        "-o",
        "StrictHostKeyChecking=no",
        "-o",
        "UserKnownHostsFile=" + folder.resolve("known"),
        "-i",
        folder.resolve("key").toString(),
        member + "@" + lab.address(user),
        command);
  }

  private static final String PYTHON =
      "import ctypes; print(\"cuInit\", ctypes.CDLL(\"libcuda.so.1\").cuInit(0))";
}

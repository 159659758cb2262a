package graft.distribution;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfEnvironmentVariable;
import org.junit.jupiter.api.io.TempDir;

/**
 * A guest that Ansible sets up over SSH, and what goes wrong in guests. An emulated guest takes a
 * quarter of an hour for it: {@code ./graft test --cloud}.
 */
@Tag("integration")
@EnabledIfEnvironmentVariable(named = GuestLab.IMAGE, matches = ".+")
@EnabledIfEnvironmentVariable(named = "GRAFT_CLOUD_TESTS", matches = "all")
final class SshGuestTest {
  private static final String CHECK = "/usr/lib/graft/graft-verify --no-measure";

  @TempDir Path folder;
  private GuestLab lab;
  private String guest;
  private String descriptor;
  private Path text;

  @BeforeEach
  void describe() throws Exception {
    lab = GuestLab.in(folder);
    guest = lab.name() + "-far";
    descriptor = lab.descriptor().toString();
    text = Files.writeString(folder.resolve("text"), "one\n");
    lab.run(0, List.of("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", "key"));
    String key = Files.readString(folder.resolve("key.pub")).strip();
    Files.writeString(
        folder.resolve("users.yaml"),
        """
        #cloud-config
        users:
          - {name: admin, sudo: "ALL=(ALL) NOPASSWD:ALL", ssh_authorized_keys: ["%1$s"]}
          - {name: member, groups: video, ssh_authorized_keys: ["%1$s"]}
        """
            .formatted(key));
    Files.writeString(
        lab.descriptor(),
        """
        graft: 1
        name: %1$s
        gpus: [{name: gpu0, device: software}]
        networks: [{name: %1$s, address: %2$s/24}]
        guests:
          - name: %3$s
            image: %4$s
            memory: 512MiB
            networks: [%1$s]
            setup:
              user-data: users.yaml
              group: video
              files: [{source: text, path: /srv/text}]
              ssh: {user: admin, key: key}
            vgpu: gpu0
            ready: {timeout: 15m}
        """
            .formatted(lab.name(), lab.gateway(), guest, GuestLab.image()));
  }

  @AfterEach
  void takeAway() throws Exception {
    lab.destroy();
  }

  @Test
  void aGuestIsSetUpOverSshAndRecoversFromWhatGoesWrong() throws Exception {
    lab.graft(0, "apply", descriptor);
    assertThat(lab.graft(0, "apply", descriptor)).contains("nothing to do");
    assertThat(lab.graft(0, "verify", descriptor)).contains("ok on Graft software device 0");
    assertThat(lab.run(0, ssh("member", CHECK))).contains("result=ok");
    playbookChangesNothing();
    aRealDriverIsKept();
    aFullDiskKeepsTheOldFiles();
    aClockThatIsYearsOffDoesNotMatter();
    aRebootInTheMiddle();
    aKeyThatIsRefusedIsSaid();
  }

  private void playbookChangesNothing() throws Exception {
    Path hosts = folder.resolve("hosts.yaml");
    Files.writeString(hosts, lab.graft(0, "inventory", descriptor));
    String play = Checkout.HOME.resolve("playbooks/guest.yml").toString();
    for (List<String> option : List.of(List.of("--check"), List.<String>of())) {
      List<String> command =
          new java.util.ArrayList<>(List.of("ansible-playbook", "-i", hosts.toString(), play));
      command.addAll(option);
      assertThat(lab.run(0, command))
          .containsPattern("ok=[0-9]+ +changed=0 +unreachable=0 +failed=0");
    }
  }

  /** A guest that has a driver of its own uses it, and Graft's client once it is gone. */
  private void aRealDriverIsKept() throws Exception {
    String driver = "/usr/lib/x86_64-linux-gnu/libcuda.so.1";
    String loaded =
        "python3 -c 'import ctypes, re; ctypes.CDLL(\"libcuda.so.1\");"
            + " print(re.search(\"/.*libcuda.*\", open(\"/proc/self/maps\").read())[0])'";
    lab.inGuest(guest, "cp /usr/lib/graft/libcuda.so.1 " + driver + " && ldconfig");
    assertThat(lab.inGuest(guest, loaded)).contains("x86_64-linux-gnu/libcuda.so.1");
    lab.inGuest(guest, "rm " + driver + " && ldconfig");
    assertThat(lab.inGuest(guest, loaded)).contains("/usr/lib/graft/libcuda.so.1");
  }

  private void aFullDiskKeepsTheOldFiles() throws Exception {
    lab.inGuest(guest, "mount -t tmpfs -o size=8k tmpfs /srv && echo old >/srv/text");
    Files.write(text, new byte[100_000]);
    assertThat(lab.graft(5, "apply", "--keep-on-failure", descriptor))
        .contains("No space left on device");
    assertThat(lab.inGuest(guest, "cat /srv/text")).contains("old");
    lab.inGuest(guest, "umount /srv");
    lab.graft(0, "apply", descriptor);
    assertThat(lab.inGuest(guest, "wc -c </srv/text")).contains("100000");
  }

  private void aClockThatIsYearsOffDoesNotMatter() throws Exception {
    lab.inGuest(guest, "timedatectl set-ntp false || true; date -s 2009-01-03");
    Files.writeString(text, "while the clock was off\n");
    lab.graft(0, "apply", descriptor);
    assertThat(lab.inGuest(guest, "cat /srv/text; " + CHECK))
        .contains("while the clock was off", "result=ok");
  }

  /** Fails with what Ansible says, or gets through; the next run completes. */
  private void aRebootInTheMiddle() throws Exception {
    Files.writeString(text, "after the reboot\n");
    CompletableFuture<Void> applied =
        CompletableFuture.runAsync(
            () -> {
              try {
                lab.run(
                    0,
                    List.of(
                        "/bin/sh",
                        "-c",
                        "\"$0\" apply --keep-on-failure \"$1\" || test $? = 5",
                        Checkout.HOME.resolve("bin/graft").toString(),
                        descriptor));
              } catch (Exception e) {
                throw new IllegalStateException(e);
              }
            });
    lab.run(0, List.of("virsh", "-q", "-c", "qemu:///system", "reset", guest));
    applied.join();
    lab.graft(0, "apply", descriptor);
    assertThat(lab.inGuest(guest, "cat /srv/text; " + CHECK))
        .contains("after the reboot", "result=ok");
  }

  private void aKeyThatIsRefusedIsSaid() throws Exception {
    // Ansible keeps its connection for a minute, which would do without the key.
    String end = "systemd-run --quiet --on-active=2 pkill -u admin";
    lab.inGuest(guest, "mv ~admin/.ssh/authorized_keys ~admin/.ssh/away && " + end);
    Files.writeString(text, "not to be brought\n");
    assertThat(lab.graft(5, "apply", "--keep-on-failure", descriptor))
        .contains("Permission denied");
  }

  private List<String> ssh(String user, String command) throws Exception {
    String address = lab.run(0, List.of("virsh", "-q", "-c", "qemu:///system", "domifaddr", guest));
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
        user + "@" + address.replaceAll("(?s).*ipv4 +([0-9.]+)/.*", "$1"),
        command);
  }
}

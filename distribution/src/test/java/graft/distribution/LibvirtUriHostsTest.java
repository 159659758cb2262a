package graft.distribution;

import static org.assertj.core.api.Assertions.assertThat;

import graft.common.json.Json;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.api.parallel.ResourceLock;

/**
 * A host that libvirt's URI names: an SSH server of this machine with a state folder of its own.
 * The host has a GPU, and sets up a machine that exists already.
 */
@Tag("integration")
@Timeout(300)
@ResourceLock(Lanes.HOST)
@ResourceLock(UnprivilegedServerTest.USER)
@WithLongTests
@Execution(ExecutionMode.CONCURRENT)
class LibvirtUriHostsTest {
  private static final String NAME = "by-uri";

  /** Both tests find the programs there that the first has brought. */
  @TempDir static Path programs;

  @TempDir Path folder;
  private SshHosts hosts;

  @BeforeEach
  void start() throws Exception {
    hosts = new SshHosts(folder, NAME, "host");
    // The folder for programs of a host that the command line names is the usual one.
    hosts.enter(
        "host",
        "exec /bin/sh -c \"$(printf %%s \"$SSH_ORIGINAL_COMMAND\" | sed 's,/opt/graft-hosts,%s,g')\""
            .formatted(programs));
  }

  @AfterEach
  void stop() throws Exception {
    if (hosts != null) {
      hosts.end();
    }
  }

  private Path state() {
    return hosts.state("host");
  }

  private String uri(String machine) {
    return "qemu+ssh://root@%s:%d/system?keyfile=%s/key&known_hosts=%s"
        .formatted(machine, hosts.port("host"), folder, hosts.known("host"));
  }

  /** A descriptor with a line of its own. */
  private String descriptor(String line) throws IOException {
    String text =
        """
        graft: 1
        %s
        gpus: [{name: gpu0, device: software}]
        guests:
        - name: vm
          existing: {ssh: root@127.0.0.1, port: %d, key: %s/key, known-hosts: %s/known-hosts}
          vgpu: gpu0
        """
            .formatted(line, hosts.machinePort(), folder, folder);
    return Files.writeString(folder.resolve(NAME + ".yaml"), text).toString();
  }

  private String refused(int code, String... arguments) throws Exception {
    Finished finished = hosts.run(arguments);
    assertThat(finished.code()).as(finished.out() + finished.err()).isEqualTo(code);
    return finished.err();
  }

  @Test
  void aDeploymentStaysOnTheHostOfItsUri() throws Exception {
    String lab = descriptor("");
    assertThat(hosts.said("plan", "-c", uri("127.0.0.1"), lab))
        .contains("host-127-0-0-1: ", "steps on 1 host");
    assertThat(hosts.record()).doesNotExist();
    assertThat(hosts.said("apply", "--connect", uri("127.0.0.1"), lab)).contains("by-uri: applied");
    Map<String, Object> received =
        Json.readObject(Files.readString(state().resolve(".hosts/by-uri/descriptor.yaml")));
    assertThat(received).containsEntry("libvirt", "qemu:///system").doesNotContainKey("hosts");
    assertThat(hosts.operator().resolve(NAME)).doesNotExist();
    // No option and no key names the host any more.
    assertThat(hosts.said("status", lab)).contains("host-127-0-0-1", "gpu0 running", "vm existing");
    assertThat(hosts.said("status", NAME)).contains("gpu0 running");
    assertThat(hosts.said("apply", lab)).contains("host-127-0-0-1: nothing to do");
    for (String command : List.of("plan", "apply", "status", "undo", "destroy")) {
      assertThat(refused(1, command, "-c", uri("localhost"), lab))
          .contains("'by-uri' is on root@127.0.0.1 already", "graft destroy by-uri");
    }
    assertThat(hosts.said("destroy", NAME)).contains("by-uri: done");
    assertThat(hosts.record()).doesNotExist();
    assertThat(state().resolve(NAME)).doesNotExist();
  }

  @Test
  void aHostOfTheDescriptorIsNamedByItsUri() throws Exception {
    String lab =
        descriptor(
            "hosts: [{name: kvm1, ssh: '%s', folder: %s}]".formatted(uri("127.0.0.1"), programs));
    assertThat(hosts.said("apply", lab)).contains("kvm1: applied", "by-uri: applied");
    assertThat(hosts.said("status", lab)).contains("gpu0 running", "vm existing");
    assertThat(refused(3, "plan", "-c", uri("127.0.0.1"), lab))
        .contains("the descriptor has hosts, and --inventory or --connect was given too");
    hosts.said("undo", lab);
    assertThat(state().resolve(NAME)).doesNotExist();
    assertThat(hosts.said("plan", descriptor("libvirt: " + uri("127.0.0.1"))))
        .contains("host-127-0-0-1: ", "steps on 1 host");
  }

  @Test
  void aUriThatIsNoLoginOnAHostIsRefusedBeforeAnythingIsDone() throws Exception {
    String lab = descriptor("");
    assertThat(refused(2, "apply", "-c", "qemu+ssh://root:hunter2@127.0.0.1/system", lab))
        .contains("--connect: the URI has a password")
        .doesNotContain("hunter2");
    assertThat(refused(2, "apply", "-c", "qemu+tls://127.0.0.1/system", lab))
        .contains("write qemu+ssh://USER@HOST/system");
    assertThat(refused(2, "plan", "-c", uri("127.0.0.1"), "--inventory", "x.ini", lab))
        .contains("leave one out");
    assertThat(refused(1, "plan", "-c", "qemu:///system", lab))
        .contains("write libvirt: qemu:///system into the descriptor");
    assertThat(refused(1, "status", "-c", uri("127.0.0.1"))).contains("name its descriptor");
    assertThat(
            refused(
                3,
                "plan",
                "-c",
                "xen" + uri("127.0.0.1").substring(4),
                descriptor("hypervisor: kvm")))
        .contains("'xen' runs no guests of the descriptor's hypervisor, kvm");
    assertThat(refused(4, "plan", "-c", uri("127.0.0.1").replaceAll("known_hosts=.*", ""), lab))
        .contains("Host key verification failed");
    assertThat(hosts.record()).doesNotExist();
    assertThat(state()).doesNotExist();
  }
}

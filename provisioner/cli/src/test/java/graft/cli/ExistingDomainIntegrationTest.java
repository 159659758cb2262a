package graft.cli;

import static org.assertj.core.api.Assertions.assertThat;

import graft.guests.connection.AgentConnection;
import graft.guests.connection.Ended;
import graft.guests.payload.Content;
import graft.guests.payload.CpioArchive;
import graft.guests.payload.GuestFile;
import graft.hypervisors.libvirt.Guest;
import graft.hypervisors.libvirt.LibvirtHost;
import graft.hypervisors.libvirt.domain.Xml;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.api.parallel.ResourceLock;

/** A domain that Graft did not make, under a real libvirt daemon, gets the client and loses it. */
@Tag("integration")
@Execution(ExecutionMode.CONCURRENT)
@ResourceLock(Lanes.GUESTS)
class ExistingDomainIntegrationTest {
  private static final String SETUP = RealHost.unique("provtest-domain");
  private static final String DOMAIN = RealHost.unique("a domain of others");
  private static final Duration BOOT = Duration.ofMinutes(2);
  private static final int KILLED = 128 + 9;

  /** Programs of this machine that the small guest lacks and an ordinary one has. */
  private static final List<String> PROGRAMS = List.of("/sbin/ldconfig", "/usr/bin/flock");

  /** What is in the guest, with the modes and the owners; not what its agent itself notes. */
  private static final String FILES =
      "all() { find / -xdev ! -path '/run/*' ! -path '/proc/*' ! -path '/sys/*' ! -path '/dev/*'"
          + " \"$@\" | sort; }; all | xargs stat -c '%n %a %u %g %F';"
          + " all -type f | xargs sha256sum";

  @TempDir Path folder;
  @AutoClose private GraftProcess graft;
  private LibvirtHost host;
  private Guest domain;
  private String lab;

  @BeforeEach
  void start() throws Exception {
    // The hypervisor runs as another user, who must be able to read the files.
    Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxr-xr-x"));
    graft = new GraftProcess(folder);
    host = LibvirtHost.open(RealHost.uri());
    domain = host.define(xml(), true);
    domain.start();
    long end = System.nanoTime() + BOOT.toNanos();
    while (!new AgentConnection(domain).answers(Duration.ofSeconds(5))) {
      assertThat(System.nanoTime()).as("its agent answers within %s", BOOT).isLessThan(end);
    }
    lab =
        RealHost.descriptor(
            folder,
            """
            graft: 1
            name: %s
            gpus: [{name: gpu0, device: software}]
            guests:
              - name: box
                existing: {domain: %s}
                vgpu: {gpu: gpu0, region: 16MiB}
                ready: {verify: false}
            """
                .formatted(SETUP, DOMAIN));
  }

  @AfterEach
  void sweep() throws Exception {
    if (Files.exists(graft.state(SETUP))) {
      graft.run("destroy", SETUP);
    }
    host.close();
    RealHost.sweep(DOMAIN);
  }

  private String xml() throws Exception {
    Path kernel = Files.copy(RealHost.kernel(), folder.resolve("vmlinuz"));
    Path initramfs = Files.copy(RealHost.initramfs(), folder.resolve("initramfs"));
    List<GuestFile> files = new ArrayList<>();
    for (String program : PROGRAMS) {
      byte[] bytes = Files.readAllBytes(Path.of(program));
      files.add(new GuestFile(program, 0755, Content.of(bytes)));
    }
    byte[] loader =
        "include /etc/ld.so.conf.d/*.conf\n".getBytes(java.nio.charset.StandardCharsets.UTF_8);
    files.add(new GuestFile("/etc/ld.so.conf", 0644, Content.of(loader)));
    files.add(new GuestFile("/var/lib/ours", 0600, Content.of(new byte[] {1})));
    files.add(new GuestFile("/etc/graft/client.conf", 0640, Content.of(loader)));
    try (OutputStream out = Files.newOutputStream(initramfs, StandardOpenOption.APPEND)) {
      CpioArchive.write(out, files);
    }
    return """
    <domain type='qemu'>
      <name>%s</name>
      <memory unit='MiB'>256</memory>
      <os>
        <type arch='x86_64' machine='pc'>hvm</type>
        <kernel>%s</kernel>
        <initrd>%s</initrd>
        <cmdline>console=ttyS0 quiet panic=-1 no_timer_check</cmdline>
      </os>
      <features><acpi/></features>
      <devices>
        <interface type='user'><model type='virtio'/></interface>
        <channel type='unix'><target type='virtio' name='org.qemu.guest_agent.0'/></channel>
      </devices>
    </domain>
    """
        .formatted(DOMAIN, kernel, initramfs);
  }

  private List<String> found() {
    Ended files =
        new AgentConnection(domain)
            .run(List.of("/bin/sh", "-c", FILES), new byte[0], Duration.ofMinutes(1));
    assertThat(files.succeeded()).as(files.said()).isTrue();
    return List.of(Xml.print(domain.xml()), Xml.print(domain.definitionXml()), files.outputText());
  }

  private void killAt(String step) throws Exception {
    graft.runMain(KillingApply.class, step, lab).as(KILLED);
  }

  @Test
  void itIsLeftAsItWasFoundWhereverGraftIsKilled() throws Exception {
    List<String> before = found();
    assertThat(before.get(2)).contains("/etc/graft/client.conf 640", "/var/lib/ours 600");
    assertThat(graft.run("adopt", "--domain", DOMAIN, "--libvirt", RealHost.uri()).as(0).out())
        .contains("# domain " + DOMAIN + ": running", "glibc", "domain: \"" + DOMAIN + "\"");

    killAt("attach-graft." + SETUP + ".box");
    graft.run("undo", SETUP).as(0);
    assertThat(found()).as("undone after a kill").isEqualTo(before);

    killAt("install-" + domain.uuid());
    graft.run("apply", lab).as(0);
    assertThat(graft.run("apply", lab).as(0).out()).contains("nothing to do");
    assertThat(graft.run("status", lab).as(0).out())
        .contains("guest box: running, domain " + DOMAIN);
    String memory = "<shmem name='graft." + SETUP + ".box'>";
    assertThat(found().subList(0, 2)).allMatch(xml -> xml.contains(memory));
    assertThat(graft.run("exec", SETUP, "box", "--", "cat", "/etc/graft/client.conf").as(0).out())
        .containsPattern("server = ivshmem://10.0.2.2:([0-9]+), tcp://10.0.2.2:\\1\n");
    graft.run("rotate", SETUP).as(0);

    graft.run("destroy", SETUP).as(0);
    assertThat(found()).as("destroyed").isEqualTo(before);
    RealHost.assertNothingLeft(graft, SETUP, "box");
  }

  @Test
  void aDomainThatWasDeletedMeanwhileIsGoneAndUndoFinishesWithoutIt() throws Exception {
    String saved = folder.resolve("lab.plan").toString();
    graft.run("plan", "--out", saved, lab).as(0);
    graft.run("apply", lab).as(0);
    domain.destroy();
    assertThat(graft.run("destroy", SETUP).as(5).err())
        .contains("could not be taken back: it is shut off");
    domain.undefine();
    assertThat(graft.run("status", SETUP).out()).contains("guest box: gone, domain " + DOMAIN);
    assertThat(graft.run("plan", lab).as(4).err()).contains("has no domain '" + DOMAIN + "'");
    graft.run("destroy", SETUP).as(0);
    RealHost.assertNothingLeft(graft, SETUP, "box");
    assertThat(graft.run("apply", saved).as(4).err()).contains("has no domain '" + DOMAIN + "'");
  }
}

package graft.hypervisors.kvm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import graft.common.values.MemorySize;
import graft.hypervisors.libvirt.AgentCommand;
import graft.hypervisors.libvirt.AgentResult;
import graft.hypervisors.libvirt.ConsoleLog;
import graft.hypervisors.libvirt.DeviceScope;
import graft.hypervisors.libvirt.Guest;
import graft.hypervisors.libvirt.GuestAgent;
import graft.hypervisors.libvirt.GuestConsole;
import graft.hypervisors.libvirt.GuestState;
import graft.hypervisors.libvirt.InterfaceAddresses;
import graft.hypervisors.libvirt.IpAddress;
import graft.hypervisors.libvirt.LibvirtHost;
import graft.hypervisors.libvirt.ObservedGuest;
import graft.hypervisors.libvirt.calls.AddressSource;
import graft.hypervisors.libvirt.calls.AgentException;
import graft.hypervisors.libvirt.calls.HypervisorException;
import graft.hypervisors.libvirt.domain.Boot;
import graft.hypervisors.libvirt.domain.ChannelSpec;
import graft.hypervisors.libvirt.domain.CpuSet;
import graft.hypervisors.libvirt.domain.CpuTune;
import graft.hypervisors.libvirt.domain.DiskElement;
import graft.hypervisors.libvirt.domain.DiskSpec;
import graft.hypervisors.libvirt.domain.DomainSpec;
import graft.hypervisors.libvirt.domain.GuestMetadata;
import graft.hypervisors.libvirt.domain.InterfaceSpec;
import graft.hypervisors.libvirt.domain.LifecycleAction;
import graft.hypervisors.libvirt.domain.NumaTune;
import graft.hypervisors.libvirt.domain.SerialSpec;
import graft.hypervisors.libvirt.domain.ShmemSpec;
import graft.hypervisors.libvirt.domain.Xml;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.w3c.dom.Element;

/** One guest runs under the real system daemon for all tests of this class. */
@Tag("integration")
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class KvmGuestIntegrationTest {

  private static final String NAME = "libvirttest-guest-" + ProcessHandle.current().pid();
  private static final Duration BOOT = Duration.ofMinutes(2);
  private static final GuestMetadata METADATA = GuestMetadata.of("libvirttest", Map.of("a", "b"));

  @TempDir static Path folder;

  private static LibvirtHost host;
  private static Guest guest;
  private static GuestAgent agent;

  @BeforeAll
  static void boot() throws Exception {
    // The hypervisor runs as another user, who must be able to read the files.
    Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxr-xr-x"));
    Path kernel = Files.copy(MicroGuest.kernel(), folder.resolve("vmlinuz"));
    Path initramfs = Files.copy(MicroGuest.initramfs(), folder.resolve("initramfs"));
    host = LibvirtHost.open("qemu:///system");
    DomainSpec spec =
        DomainSpec.named(NAME)
            .memory(MemorySize.ofMib(192))
            .boot(
                new Boot.DirectKernel(
                    kernel.toString(),
                    Optional.of(initramfs.toString()),
                    "console=ttyS0 quiet panic=-1 no_timer_check"))
            .onReboot(LifecycleAction.DESTROY)
            .networkInterface(InterfaceSpec.userMode())
            .sharedMemory(new ShmemSpec(NAME, MemorySize.ofMib(1)))
            .cpuTune(CpuTune.pins(Map.of(0, CpuSet.of(0))))
            .numaTune(new NumaTune(CpuSet.of(0), NumaTune.Mode.STRICT))
            .serial(new SerialSpec(folder.resolve("console.log").toString()))
            .channel(ChannelSpec.GUEST_AGENT)
            .metadata(METADATA)
            .build();
    guest = host.define(new KvmHypervisor().domainXml(spec, host.capabilities()));
    guest.start();
    agent = guest.agent();
    await("the agent", () -> agent.ping(Duration.ofSeconds(5)));
  }

  @AfterAll
  static void remove() throws IOException {
    try (LibvirtHost cleaner = LibvirtHost.open("qemu:///system")) {
      cleaner
          .guest(NAME)
          .ifPresent(
              leftover -> {
                leftover.destroy();
                leftover.undefine();
              });
    }
    Files.deleteIfExists(Path.of("/dev/shm", NAME));
    if (host != null) {
      host.close();
    }
  }

  private static void await(String what, BooleanSupplier condition) {
    long end = System.nanoTime() + BOOT.toNanos();
    while (!condition.getAsBoolean()) {
      assertThat(System.nanoTime() - end)
          .as("%s within %s; console: %s", what, BOOT, console())
          .isNegative();
      LockSupport.parkNanos(Duration.ofMillis(50).toNanos());
    }
  }

  private static Object console() {
    return guest.consoleLog().map(log -> (Object) log.tail(20)).orElse("none");
  }

  @Test
  void isKnownAsOurs() {
    ObservedGuest seen =
        host.guests().stream().filter(g -> g.name().equals(NAME)).findFirst().orElseThrow();
    assertThat(seen.guest()).isEqualTo(guest);
    assertThat(seen.state()).isEqualTo(GuestState.RUNNING);
    assertThat(seen.metadata().map(GuestMetadata::deployment)).contains("libvirttest");
    assertThat(guest.info().maxMemory()).isEqualTo(MemorySize.ofMib(192));
    assertThat(guest.info().cpuTime()).isPositive();
  }

  @Test
  void metadataChangesInTheRunningGuestAndInItsDefinition() {
    GuestMetadata changed = GuestMetadata.of("libvirttest", Map.of("a", "<&>"));
    guest.setMetadata(changed);
    assertThat(guest.metadata()).contains(changed);
    assertThat(Xml.print(guest.definitionXml())).contains("&lt;&amp;&gt;");
    guest.setMetadata(METADATA);
    assertThat(guest.metadata()).contains(METADATA);
  }

  @Test
  void execKeepsArgumentsEnvironmentInputAndBothOutputsApart() {
    AgentResult result =
        agent.exec(
            AgentCommand.of(
                    "/bin/sh", "-c", "echo \"$0|$1|$X\"; cat; echo err >&2; exit 3", "a b", "c")
                .withEnvironment(Map.of("X", "it's", "PATH", "/bin"))
                .withInput("from stdin é".getBytes(StandardCharsets.UTF_8)));
    assertThat(result.outputText()).isEqualTo("a b|c|it's\nfrom stdin é");
    assertThat(result.errorText()).isEqualTo("err\n");
    assertThat(result.exitCode()).hasValue(3);
    assertThat(result.succeeded()).isFalse();
    assertThat(result).hasToString("exit code 3: err");
  }

  @Test
  void execTellsTheSignalThatEndedAProgram() {
    AgentResult result = agent.exec(AgentCommand.shell("kill -9 $$"));
    assertThat(result.signal()).hasValue(9);
    assertThat(result.exitCode()).isEmpty();
  }

  @Test
  void execTakesAllTheInputThatItPromises() {
    byte[] input = new byte[AgentCommand.MAX_INPUT];
    AgentResult result = agent.exec(AgentCommand.of("/bin/wc", "-c").withInput(input));
    assertThat(result.outputText().strip()).isEqualTo(Integer.toString(input.length));
  }

  @Test
  void execEndsAProgramThatTakesTooLong() {
    assertThatExceptionOfType(AgentException.class)
        .isThrownBy(
            () ->
                agent.exec(
                    AgentCommand.of("/bin/sleep", "1234").withTimeout(Duration.ofMillis(300))))
        .withMessageContaining("did not end within 0.3 s; it was killed");
    await(
        "the end of the program",
        () -> !agent.exec(AgentCommand.shell("ps")).outputText().contains("sleep 1234"));
  }

  @Test
  void execOfNothingIsTheAgentsRefusal() {
    assertThatExceptionOfType(AgentException.class)
        .isThrownBy(() -> agent.exec(AgentCommand.of("/bin/no-such-program")))
        .matches(e -> !e.unresponsive())
        .withMessageContaining("No such file or directory");
  }

  @Test
  void filesOfManyPiecesArriveWhole() {
    byte[] content = new byte[300_001];
    new Random(1).nextBytes(content);
    agent.writeFile("/tmp/large", content);
    assertThat(agent.readFile("/tmp/large")).isEqualTo(content);
    agent.writeFile("/tmp/large", new byte[0]);
    assertThat(agent.readFile("/tmp/large")).isEmpty();
    assertThatExceptionOfType(AgentException.class)
        .isThrownBy(() -> agent.readFile("/no/such/file"))
        .withMessageContaining("cannot read '/no/such/file' in guest '" + NAME);
  }

  @Test
  void tellsItsAddresses() {
    assertThat(guest.addresses(AddressSource.AGENT))
        .filteredOn(i -> i.name().equals("lo"))
        .flatExtracting(InterfaceAddresses::addresses)
        .contains(new InterfaceAddresses.Address(new IpAddress("127.0.0.1"), 8));
  }

  @Test
  void consoleEndsInAFile() {
    ConsoleLog log = guest.consoleLog().orElseThrow();
    assertThat(log.path()).isEqualTo(folder.resolve("console.log"));
    assertThat(log.tail(20)).contains("MICRO-READY");
  }

  @Test
  @Timeout(60)
  void theConsoleTakesInputFromOneProgramAtATime() {
    assertThat(guest.consoleTakesInput()).isTrue();
    String reader =
        "exec </dev/ttyS0 >/dev/ttyS0;"
            + " while read -r line && [ \"$line\" != end ]; do echo got $line; done;"
            + " echo reader ended";
    background(reader);
    GuestConsole first = guest.openConsole(false);
    first.write("one\n".getBytes(StandardCharsets.UTF_8), 4);
    awaitText(first, "got one");
    assertThatExceptionOfType(HypervisorException.class)
        .isThrownBy(() -> guest.openConsole(false))
        .matches(GuestConsole::isTaken);
    try (GuestConsole second = guest.openConsole(true)) {
      second.write("two\n".getBytes(StandardCharsets.UTF_8), 4);
      awaitText(second, "got two");
      assertThat(rest(first)).as("the first one ended").doesNotContain("got two");
    }
    first.close();
    try (GuestConsole third = guest.openConsole(false)) {
      third.write("end\n".getBytes(StandardCharsets.UTF_8), 4);
      awaitText(third, "reader ended");
    }
    assertThat(guest.consoleLog().orElseThrow().tail(20))
        .as("what is shown is kept, too")
        .contains("got one", "got two");
  }

  /**
   * libvirt's client can forget to send what one thread has while another waits for a console, and
   * a guest without an echo prints nothing that would remind it.
   */
  @Test
  @Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
  void keysAreSentWhileTheConsolePrintsNothing() throws Exception {
    assertThat(agent.exec(AgentCommand.shell("stty -echo </dev/ttyS0")).exitCode()).hasValue(0);
    byte[] key = {'k'};
    for (int i = 0; i < 100; i++) {
      GuestConsole console = guest.openConsole(true);
      Thread reader = new Thread(() -> rest(console));
      reader.start();
      console.write(key, 1);
      console.write(key, 1);
      console.close();
      reader.join();
    }
  }

  /** The last test: what was in the console's log before is gone. */
  @Test
  @Order(Integer.MAX_VALUE)
  @Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
  void keysArriveWhileTheGuestFloodsItsConsole() throws Exception {
    assertThat(agent.exec(AgentCommand.shell("stty -echo </dev/ttyS0")).exitCode()).hasValue(0);
    // The console is hung up when a session's leader that has opened it ends: children open it.
    background("head -n 1 </dev/ttyS0 >/tmp/typed & wait");
    background("yes flood >/dev/ttyS0 & echo $! >/tmp/flood; wait");
    AtomicLong shown = new AtomicLong();
    try (GuestConsole console = guest.openConsole(true)) {
      Thread reader =
          new Thread(
              () -> {
                byte[] buffer = new byte[1000];
                for (int count = 1; count > 0; count = console.read(buffer)) {
                  shown.addAndGet(count);
                }
              });
      reader.start();
      await("the flood is shown", () -> shown.get() > 20_000);
      console.write("typed\n".getBytes(StandardCharsets.UTF_8), 6);
      await(
          "the keys have arrived",
          () -> agent.exec(AgentCommand.shell("cat /tmp/typed")).outputText().endsWith("typed\n"));
      long before = shown.get();
      await("the flood goes on", () -> shown.get() > before);
    } finally {
      agent.exec(AgentCommand.shell("kill $(cat /tmp/flood)"));
    }
  }

  private static void background(String script) {
    agent.exec(AgentCommand.shell("setsid sh -c '" + script + "' >/dev/null 2>&1 </dev/null &"));
  }

  private static void awaitText(GuestConsole console, String text) {
    StringBuilder shown = new StringBuilder();
    byte[] buffer = new byte[1000];
    while (shown.indexOf(text) < 0) {
      int count = console.read(buffer);
      assertThat(count).as("it goes on: %s", shown).isPositive();
      shown.append(new String(buffer, 0, count, StandardCharsets.UTF_8));
    }
  }

  /** What a console that was taken away still gives; it may end with a failure. */
  private static String rest(GuestConsole console) {
    StringBuilder shown = new StringBuilder();
    byte[] buffer = new byte[1000];
    try {
      for (int count = console.read(buffer); count > 0; count = console.read(buffer)) {
        shown.append(new String(buffer, 0, count, StandardCharsets.UTF_8));
      }
    } catch (HypervisorException e) {
      shown.append(e.getMessage());
    }
    return shown.toString();
  }

  @Test
  void sharedMemoryIsAFileOfTheHost() {
    assertThat(Path.of("/dev/shm", NAME)).exists();
  }

  @Test
  void disksComeAndGoWhileItRuns() throws Exception {
    Path image = Files.write(folder.resolve("disk.raw"), new byte[1 << 20]);
    Element disk =
        DiskElement.append(
            Xml.newDocument("devices").getDocumentElement(),
            DiskSpec.file(image.toString(), DiskSpec.Format.RAW),
            "qemu",
            "vdz",
            "virtio");
    guest.attach(disk, Set.of(DeviceScope.LIVE));
    await("the disk", () -> agent.exec(AgentCommand.shell("ls /dev")).outputText().contains("vda"));
    guest.detach(disk, Set.of(DeviceScope.LIVE));
    await("its end", () -> !Xml.print(guest.xml()).contains("disk.raw"));
  }

  @Test
  void aRunningGuestDoesNotStartAgain() {
    assertThat(guest.start()).isFalse();
    assertThat(guest.state().isActive()).isTrue();
  }
}

package graft.guests.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import graft.common.GraftException;
import graft.common.program.HostProgram;
import graft.common.values.UserName;
import graft.hypervisors.libvirt.InterfaceAddresses;
import graft.hypervisors.libvirt.IpAddress;
import graft.hypervisors.libvirt.calls.AddressSource;
import graft.hypervisors.libvirt.calls.HypervisorException;
import java.io.IOException;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Where a guest is reached by SSH, and what ssh is started with. */
class SshConnectionTest {
  /** ssh takes the terminal from its standard input itself. */
  private static final LocalTerminal TERMINAL = null;

  private static final Path KNOWN = Path.of("/var/lib/graft/a/disk.qcow2.known-hosts");

  private static SshLogin login(String user) {
    return new SshLogin(new UserName(user), Optional.empty(), 2222, Optional.empty(), KNOWN);
  }

  private static InterfaceAddresses card(String... addresses) {
    List<InterfaceAddresses.Address> all = new ArrayList<>();
    for (String address : addresses) {
      all.add(new InterfaceAddresses.Address(new IpAddress(address), 24));
    }
    return new InterfaceAddresses("eth0", Optional.empty(), all);
  }

  private static Optional<String> leased(
      List<InterfaceAddresses> lease, List<InterfaceAddresses> agent) {
    return SshConnection.leased(source -> source == AddressSource.LEASE ? lease : agent)
        .map(IpAddress::text);
  }

  @Test
  void theAddressThatDhcpGaveComesBeforeTheAgentsWord() {
    assertThat(leased(List.of(card("192.0.2.5")), List.of(card("192.0.2.6"))))
        .contains("192.0.2.5");
    assertThat(leased(List.of(), List.of(card("fe80::1", "192.0.2.6")))).contains("192.0.2.6");
    assertThat(leased(List.of(), List.of())).isEmpty();
  }

  @Test
  void aGuestThatNamesThisMachineAsItselfIsNotReachedThere() throws Exception {
    assertThat(
            leased(
                List.of(),
                List.of(card("127.0.0.1", "127.9.9.9", "0.0.0.0", "224.0.0.1", "255.255.255.255"))))
        .isEmpty();
    String own = ownAddress();
    assertThat(leased(List.of(), List.of(card(own, "192.0.2.6")))).contains("192.0.2.6");
  }

  private static String ownAddress() throws SocketException {
    return NetworkInterface.networkInterfaces()
        .flatMap(NetworkInterface::inetAddresses)
        .filter(Inet4Address.class::isInstance)
        .map(InetAddress::getHostAddress)
        .findFirst()
        .orElseThrow();
  }

  @Test
  void anAgentThatRefusesLeavesTheAddressUnknown() {
    Optional<IpAddress> none =
        SshConnection.leased(
            source -> {
              throw new HypervisorException("read the addresses of", "a", "it says no", "");
            });
    assertThat(none).isEmpty();
    assertThatThrownBy(() -> new SshConnection(login("root"), Optional.empty()).address())
        .isInstanceOf(GuestConnectionException.class)
        .hasMessageContaining("no address of the guest is known");
  }

  @Test
  void theAddressComesAfterTheOptionsAndTheLineIsOneWord() {
    List<String> arguments =
        new SshConnection(login("admin"), Optional.of(new HostAddress("192.0.2.5")))
            .arguments(List.of("/bin/sh", "-c", "echo \"$1\"", "sh", "it's; $(id)\n"));
    assertThat(arguments)
        .endsWith(
            "-p",
            "2222",
            "-l",
            "admin",
            "--",
            "192.0.2.5",
            "sudo -n -- /bin/sh -c 'echo \"$1\"' sh 'it'\\''s; $(id)\n'");
    assertThat(arguments.indexOf("--")).isEqualTo(arguments.size() - 3);
  }

  /** A connection as root by a script in place of ssh. */
  private static SshConnection by(Path folder, String script) throws IOException {
    Path ssh = Files.writeString(folder.resolve("ssh"), "#!/bin/sh\n" + script);
    assertThat(ssh.toFile().setExecutable(true)).isTrue();
    SshLogin login =
        new SshLogin(
            UserName.ROOT, Optional.of(new HostAddress("192.0.2.5")), 22, Optional.empty(), KNOWN);
    return SshConnection.toKnown(login, ssh.toString());
  }

  @Test
  void aTerminalIsAskedForAndTheCodeOfTheProgramIsPassedOn(@TempDir Path folder) throws Exception {
    TerminalSession session =
        by(folder, "printf '%s\\n' \"$@\" >\"$0.words\"\nexit 7\n")
            .start(List.of("echo", "a b"), TERMINAL);
    assertThat(session.await(Duration.ofSeconds(20))).isEqualTo(7);
    assertThat(folder.resolve("ssh.words")).content().startsWith("-tt\n").endsWith("echo 'a b'\n");
  }

  @Test
  void aGuestThatIsTooBusyToLogInDoesNotAnswerYet(@TempDir Path folder) throws Exception {
    SshConnection busy = by(folder, "exec sleep 1000\n");
    assertThat(busy.answers(Duration.ofMillis(200))).isFalse();
    assertThatThrownBy(() -> busy.run(List.of("id"), new byte[0], Duration.ofMillis(200)))
        .isInstanceOfSatisfying(
            GuestConnectionException.class,
            e -> {
              assertThat(e.unresponsive()).isFalse();
              assertThat(e.late()).isTrue();
            })
        .hasMessageContaining("'id' did not end within");
  }

  @Test
  void whatRunsTooLongOnATerminalIsEndedWithWhatItStarted(@TempDir Path folder) throws Exception {
    Path child = folder.resolve("child");
    ProcessBuilder program =
        new ProcessBuilder(
            "/bin/sh",
            "-c",
            "sleep 1234567 & echo $! >" + child + ".new; mv " + child + ".new " + child + "; wait");
    TerminalProgram session = TerminalProgram.start("sleep", program);
    while (!Files.exists(child)) {
      Thread.sleep(10);
    }
    assertThatThrownBy(() -> session.await(Duration.ofMillis(1)))
        .isInstanceOf(GuestConnectionException.class)
        .hasMessageContaining("was ended");
    long left = Long.parseLong(Files.readString(child).strip());
    ProcessHandle.of(left).ifPresent(one -> one.onExit().join());
  }

  /**
   * By ssh's own word: what it would do with these options and no configuration of the caller's.
   */
  @Test
  void sshTakesTheOptionsAsTheyAreMeant() throws Exception {
    assumeTrue(HostProgram.isThere("ssh", System.getenv()), "no OpenSSH here");
    SshLogin login =
        new SshLogin(
            UserName.ROOT,
            Optional.empty(),
            22,
            Optional.of(Path.of("/keys/100%d of a b/key")),
            Path.of("/known hosts/100%h/a"));
    List<String> arguments = new ArrayList<>(List.of("-G", "-F", "/dev/null"));
    arguments.addAll(
        new SshConnection(login, Optional.of(new HostAddress("192.0.2.5")))
            .arguments(List.of("true")));
    String said = HostProgram.of("ssh", arguments).output(Duration.ofSeconds(20));
    assertThat(said.lines())
        .contains(
            "hostname 192.0.2.5",
            "user root",
            "forwardagent no",
            "forwardx11 no",
            "clearallforwardings yes",
            "permitlocalcommand no",
            "userknownhostsfile /known hosts/100%h/a")
        .anyMatch(line -> line.matches("identityfile /keys/100%%?d of a b/key"))
        .noneMatch(line -> line.startsWith("proxycommand"));
  }

  @Test
  void aFileThatSshCannotBeToldOfIsRefused() {
    for (String name : List.of("a\"b", "a'b", "a\nb", "a\\b", "${HOME}")) {
      SshLogin login =
          new SshLogin(
              UserName.ROOT, Optional.empty(), 22, Optional.of(Path.of("/k/" + name)), KNOWN);
      assertThatThrownBy(() -> SshOptions.line(login))
          .isInstanceOf(GraftException.class)
          .hasMessageContaining("ssh cannot use the file");
    }
  }
}

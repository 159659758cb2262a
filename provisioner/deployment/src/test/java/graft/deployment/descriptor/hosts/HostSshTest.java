package graft.deployment.descriptor.hosts;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import graft.common.bind.Form;
import graft.guests.connection.SshLogin;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** How a host is reached: a user and a machine, or libvirt's URI. */
class HostSshTest {
  @ParameterizedTest
  @CsvSource(
      nullValues = "-",
      value = {
        "root@192.0.2.7, root, 192.0.2.7, -, -",
        "qemu+ssh://root@192.0.2.11:2222/system, root, 192.0.2.11, 2222, qemu:///system",
        "qemu+ssh://root@[2001:db8::1]:2222/system, root, 2001:db8::1, 2222, qemu:///system",
        "qemu+ssh://root@[2001:db8::1]/system, root, 2001:db8::1, -, qemu:///system",
        "qemu+ssh://root@node1/session, root, node1, -, qemu:///session",
        "qemu+ssh://root@node1/system?no_tty=1, root, node1, -, qemu:///system",
        "qemu+libssh://admin@node1.example.org/system, admin, node1.example.org, -, qemu:///system",
        "qemu+libssh2://admin@node1/system, admin, node1, -, qemu:///system",
        "xen+ssh://root@node1, root, node1, -, xen:///system",
        "xen+ssh://root@node1/, root, node1, -, xen:///system",
        "lxc+ssh://root@node1:65535/system, root, node1, 65535, lxc:///system",
        "qemu+ssh://node1/system, -, node1, -, qemu:///system",
      })
  void aHostIsRead(String text, String user, String host, Integer port, String libvirt) {
    HostSsh read = HostSsh.parse(text);
    assertThat(read.user().map(Object::toString).orElse(null)).isEqualTo(user);
    assertThat(read.host().text()).isEqualTo(host);
    assertThat(read.port().orElse(null)).isEqualTo(port);
    assertThat(read.libvirt().map(Object::toString).orElse(null)).isEqualTo(libvirt);
    assertThat(HostSsh.parse(read.toString())).isEqualTo(read);
    assertThat(text).matches(HostSsh.class.getAnnotation(Form.class).pattern());
  }

  @Test
  void filesOfAUriAreThoseOfTheLogin() {
    HostSsh read =
        HostSsh.parse("qemu+ssh://root@h:23/system?keyfile=/a%20b/c+d%40e&known_hosts=k;no_tty=1");
    assertThat(read.key()).contains("/a b/c+d@e");
    assertThat(read.knownHosts()).contains("k");
    assertThat(HostSsh.parse(read.toString())).isEqualTo(read);
    SshLogin login = Host.only(read).login(file -> Path.of("/d").resolve(file));
    assertThat(login.port()).isEqualTo(23);
    assertThat(login.key()).contains(Path.of("/a b/c+d@e"));
    assertThat(login.knownHosts()).isEqualTo(Path.of("/d/k"));
  }

  @Test
  void withoutAUserItIsTheOperatorsOwn() {
    assertThat(HostSsh.parse("qemu+ssh://node1/system").account().text())
        .isEqualTo(System.getProperty("user.name"));
  }

  @ParameterizedTest
  @CsvSource({
    "node1.example.org, node1",
    "NODE2, node2",
    "192.0.2.11, host-192-0-2-11",
    "[2001:db8::1], host-2001-db8--1",
    "[fe80::], host-fe80",
  })
  void theOnlyHostIsNamedAfterItsMachine(String machine, String name) {
    assertThat(Host.only(HostSsh.parse("qemu+ssh://root@" + machine + "/system")).name().text())
        .isEqualTo(name);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "qemu+ssh://-oProxyCommand=x@h/system | is no user's name",
        "qemu+ssh://root@-oProxyCommand=x/system | is neither an IP address",
        "qemu+ssh://root@a_b/system | is neither an IP address",
        "qemu+ssh://@h/system | is no user's name",
        "qemu+ssh://root@a@b/system | names no machine",
        "qemu+ssh://ro%6ft@h/system | is no user's name",
        "qemu+ssh://root@h%2e/system | is neither an IP address",
        "qemu+ssh:///system | names no host",
        "qemu+ssh://root@/system | names no host",
        "qemu+ssh://root@:22/system | names no host",
        "qemu+ssh://root@[]/system | in brackets",
        "qemu+ssh://root@[h]/system | in brackets",
        "qemu+ssh://root@[fe80::1%25eth0]/system | is neither an IP address",
        "qemu+ssh://root@2001:db8::1/system | is no port",
        "qemu+ssh://root@h:0/system | is no port",
        "qemu+ssh://root@h:65536/system | is no port",
        "qemu+ssh://root@h:99999999999/system | is no port",
        "qemu+ssh://root@h:+22/system | is no port",
        "qemu+ssh://root@h:/system | is no port",
        "qemu+ssh://root@h | write /system or /session",
        "qemu+ssh://root@h/system/ | write /system or /session",
        "xen+ssh://root@h/session | write /system behind",
        "qemu+ssh://root@h/system#x | no URI of libvirt",
        "qemu+ssh://ro ot@h/system | no URI of libvirt",
        "QEMU+SSH://root@h/system | no URI of libvirt",
        "://root@h/system | no URI of libvirt",
        "qemu+ssh://root@h/system?no_verify=1 | 'no_verify': the host's key",
        "qemu+ssh://root@h/system?no_verify=0 | 'no_verify': ",
        "qemu+libssh://root@h/system?known_hosts_verify=ignore | the host's key has to be known",
        "qemu+ssh://root@h/system?command=/tmp/x | 'command': Graft runs",
        "qemu+ssh://root@h/system?socket=/x | 'socket': ",
        "qemu+ssh://root@h/system?netcat=/x | 'netcat': ",
        "qemu+ssh://root@h/system?proxy=native | 'proxy': ",
        "qemu+ssh://root@h/system?no_tty=0 | 'no_tty': ",
        "qemu+ssh://root@h/system?key=/x | 'key': ",
        "qemu+ssh://root@h/system?%0a=/x | one of the URI's parameters",
        "qemu+ssh://root@h/system?keyfile= | names no file",
        "qemu+ssh://root@h/system?keyfile | names no file",
        "qemu+ssh://root@h/system?keyfile=%0a | names no file",
        "qemu+ssh://root@h/system?keyfile=a%00b | names no file",
        "qemu+ssh://root@h/system?keyfile=%ff | names no file",
        "qemu+ssh://root@h/system?keyfile=%zz | two hex digits",
        "qemu+ssh://root@h/system?keyfile=/a&keyfile=/b | 'keyfile' twice",
        "qemu+tcp://h/system | transport 'tcp' gives no login on the host",
        "qemu+tls://root@h/system | write qemu+ssh://USER@HOST/system",
        "qemu+unix:///system | transport 'unix' gives no login",
        "qemu://h/system | transport tls gives no login",
        "xen:///system | a URI of this machine gives no login",
        "esx+ssh://root@h/ | driver 'esx'",
        "test+ssh://root@h/default | driver 'test'",
        "ssh://root@h | ssh is no driver",
        "node1 | names no user",
      })
  void whatGraftDoesNotDoIsRefused(String text, String said) {
    assertThat(refused(text)).contains(said);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "qemu+ssh://root@h\n/system",
        "qemu+ssh://root@h/system\n",
        "qemu+ssh://root\u0000@h/system",
        "qemu+ssh://root@h\u001b[31m/system",
        "root@h\n",
        "root@h\u001b[31m",
      })
  void controlCharactersAreRefused(String text) {
    assertThat(refused(text)).isNotEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "qemu+ssh://root:hunter2@h/system",
        "qemu+ssh://root:hunter2@[2001:db8::1]:22/system",
        "qemu+ssh://root:hunter2:@h/system",
        "qemu+ssh://:hunter2@h/system",
        "qemu+ssh://root:hun@hunter2@h/system",
        "qemu+ssh://root%3Ahunter2@h/system",
        "qemu+ssh://root:1/hunter2@h/system",
        "qemu+ssh://root:1?hunter2@h/system",
        "qemu+ssh://root:1#hunter2@h/system",
        "qemu+ssh://root:a hunter2@h/system",
        "qemu+tls://root:hunter2@h/system",
      })
  void aPasswordIsRefusedAndNotPrinted(String text) {
    assertThat(refused(text)).doesNotContain("hunter2").isNotEmpty();
  }

  private static String refused(String text) {
    return catchThrowableOfType(IllegalArgumentException.class, () -> HostSsh.parse(text))
        .getMessage();
  }
}

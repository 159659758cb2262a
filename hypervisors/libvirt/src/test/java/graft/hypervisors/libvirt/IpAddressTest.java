package graft.hypervisors.libvirt;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests which texts of a guest's agent are accepted as addresses. */
class IpAddressTest {
  @ParameterizedTest
  @ValueSource(
      strings = {
        "10.0.0.1",
        "255.255.255.255",
        "0.0.0.0",
        "::",
        "::1",
        "fe80::5054:ff:fe12:3456",
        "2001:db8:0:0:0:0:0:1",
        "2001:DB8::A",
        "::ffff:10.0.0.1"
      })
  void anAddressInNumbersIsTaken(String text) {
    assertThat(IpAddress.parse(text).text()).isEqualTo(text);
    assertThat(IpAddress.find(text)).contains(new IpAddress(text));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        " ",
        "-oProxyCommand=touch /tmp/x",
        "-1.2.3.4",
        "10.0.0.1 ",
        "10.0.0.1\n",
        "10.0.0.1\n-oProxyCommand=x",
        "10.0.0.1;id",
        "$(id)",
        "`id`",
        "{{ lookup('pipe', 'id') }}",
        "{% for x in y %}",
        "localhost",
        "guest.example.com",
        "10.0.0",
        "10.1",
        "167772161",
        "0x0a000001",
        "010.0.0.1",
        "10.0.0.256",
        "10.0.0.1.5",
        "10.0.0.1/24",
        "10.0.0.1:22",
        "[::1]",
        "fe80::1%eth0",
        "fe80::1%-oProxyCommand=x",
        ":",
        ":::",
        "1::2::3",
        "12345::",
        "1:2:3:4:5:6:7:8:9",
        "::1.2.3",
        "::ffff:10.0.0.1.1",
        "../../etc/passwd",
        "１０.0.0.1",
        "\u0000"
      })
  void anythingElseIsNone(String text) {
    assertThat(IpAddress.find(text)).isEmpty();
    assertThatExceptionOfType(IllegalArgumentException.class)
        .isThrownBy(() -> IpAddress.parse(text))
        .withMessageContaining("is not an IP address in numbers");
  }

  @Test
  void anErrorQuotesNoControlCharacterAndNotAllOfALongText() {
    assertThatExceptionOfType(IllegalArgumentException.class)
        .isThrownBy(() -> IpAddress.parse("\u001b]0;x\u0007" + "9".repeat(1_000_000)))
        .satisfies(e -> assertThat(e.getMessage()).doesNotContain("\u001b").hasSizeLessThan(200));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "127.0.0.1",
        "127.8.8.8",
        "0.0.0.0",
        "0.1.2.3",
        "224.0.0.1",
        "255.255.255.255",
        "::",
        "::1",
        "ff02::1"
      })
  void anAddressThatLeadsBackHereOrToManyIsNotElsewhere(String text) {
    assertThat(new IpAddress(text).isElsewhere()).isFalse();
  }

  @Test
  void oneOfThisMachinesOwnIsNotElsewhere() throws Exception {
    assertThat(new IpAddress("192.0.2.77").isElsewhere()).isTrue();
    List<String> own =
        NetworkInterface.networkInterfaces()
            .flatMap(NetworkInterface::inetAddresses)
            .filter(Inet4Address.class::isInstance)
            .map(InetAddress::getHostAddress)
            .toList();
    assertThat(own).isNotEmpty().noneMatch(text -> new IpAddress(text).isElsewhere());
  }
}

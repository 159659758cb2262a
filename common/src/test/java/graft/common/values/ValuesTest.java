package graft.common.values;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ValuesTest {
  @ParameterizedTest
  @ValueSource(strings = {"", "0s", "5", "5d", "-5s"})
  void otherTimesAreRefused(String text) {
    assertThatIllegalArgumentException().isThrownBy(() -> TimeSpan.parse(text));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "A", "-a", "a-", "a.b", "a/b", "a b"})
  void aNameIsADnsLabel(String text) {
    assertThatIllegalArgumentException().isThrownBy(() -> Name.parse(text));
  }

  @Test
  void aSubnetKnowsItsAddresses() {
    Subnet subnet = Subnet.parse("192.168.150.1/24");
    assertThat(subnet.host()).isEqualTo("192.168.150.1");
    assertThat(subnet.netmask()).isEqualTo("255.255.255.0");
    assertThat(subnet.firstGuest()).isEqualTo("192.168.150.2");
    assertThat(subnet.lastGuest()).isEqualTo("192.168.150.254");
    assertThat(Subnet.parse("10.0.0.254/24").lastGuest()).isEqualTo("10.0.0.253");
  }

  @ParameterizedTest
  @ValueSource(strings = {"192.168.150.0/24", "192.168.150.255/24", "192.168.1.1", "1.2.3.400/24"})
  void otherSubnetsAreRefused(String text) {
    assertThatIllegalArgumentException().isThrownBy(() -> Subnet.parse(text));
  }

  @Test
  void anEndpointIsTcpOrUnix() {
    assertThat(Endpoint.parse("tcp://127.0.0.1:7799").isLocal()).isTrue();
    assertThat(Endpoint.parse("tcp://10.0.0.1:1").isLocal()).isFalse();
    assertThat(Endpoint.parse("vsock://2:7799")).isEqualTo(Endpoint.vsock(2, 7799));
    assertThat(Endpoint.vsock(2, 7799)).hasToString("vsock://2:7799");
    assertThat(Endpoint.parse("vsock://any:1")).hasToString("vsock://any:1");
    assertThat(Endpoint.parse("unix:///run/graft.sock").path()).isEqualTo("/run/graft.sock");
    assertThat(Endpoint.parse("unix:///run/graft.sock")).hasToString("unix:///run/graft.sock");
    assertThatIllegalArgumentException().isThrownBy(() -> Endpoint.parse("http://a:1"));
    assertThatIllegalArgumentException().isThrownBy(() -> Endpoint.parse("tcp://a:99999"));
  }
}

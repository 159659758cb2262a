package graft.remoting.server.transport;

import static org.assertj.core.api.Assertions.assertThat;

import graft.remoting.server.system.Bytes;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** For which names a certificate is. */
class NodeTest {
  @Test
  void theCommonNameIsOnePartOfTheSubject() {
    assertThat(Node.commonName("CN=node07")).containsExactly("node07");
    assertThat(Node.commonName("CN=node07.cluster.example,OU=x,O=Graft,C=DE"))
        .containsExactly("node07.cluster.example");
    assertThat(Node.commonName("C=DE,O=Graft,CN=node07")).containsExactly("node07");
  }

  /** Nobody becomes another machine by what he asks an authority to write into other parts. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "O=Graft",
        "O=x\\,CN=node07",
        "O=x\\\\\\,CN=node07",
        "O=x\\+CN=node07",
        "OU=CN=node07",
        "CN=a,CN=node07",
        "CN=a+CN=node07",
        "CN=node07\\,O=x",
        "CN=node07\\00",
        "CN=\\ node07",
        "CN=node 07",
        "CN=node07\nroot",
        "CN=#0c066e6f64653037",
        "2.5.4.3=node07",
        "CN="
      })
  void whatIsNotOnePlainCommonNameIsNone(String subject) {
    assertThat(Node.commonName(subject)).isEmpty();
  }

  @Test
  void namesAreComparedAsAWhole() {
    Node node = new Node(Bytes.NONE, List.of("node07.cluster.example", "*.gpu.example"));
    assertThat(node.isFor("Node07.Cluster.example")).isTrue();
    assertThat(node.isFor("node07")).isFalse();
    assertThat(node.isFor("cluster.example")).isFalse();
    assertThat(node.isFor("a.gpu.example")).isFalse();
    assertThat(new Node(Bytes.NONE, List.of()).isFor("")).isFalse();
  }
}

package graft.distribution;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A program on a machine that has a certificate and no token, and whose server has an address that
 * is not the loopback interface's: all its connections are encrypted.
 */
final class CertificatesTest {
  /** An address that no machine has (RFC 5737); the server's certificate is for it. */
  private static final String AWAY = "192.0.2.1";

  private static final String SCRIPT =
      """
      ip link set lo up && ip addr add %1$s/32 dev lo || exit 77
      graft serve --device software --listen tcp://%1$s:0 --tokens tokens --certificates pki/good > serves 2> server.log &
      server=$!
      trap 'kill $server; wait $server' EXIT
      until grep -q '^serves at' serves; do kill -0 $server || { cat server.log; exit 1; }; sleep 0.1; done
      export GRAFT_SERVER=$(sed 's/^serves at //' serves)
      echo good; GRAFT_CERTIFICATES=pki/good GRAFT_DATA_CONNECTIONS=2 ./driver > good.out; echo $?
      for wrong in expired stranger elsewhere missing; do
        echo $wrong; GRAFT_CERTIFICATES=pki/$wrong ./driver > /dev/null 2> $wrong.err; echo $?
      done
      echo token; ./driver > /dev/null 2> token.err; echo $?
      printf 'server = %%s\\ncertificates = pki/good\\n' $GRAFT_SERVER > client.conf
      unset GRAFT_SERVER
      echo file; GRAFT_CONFIG=client.conf ./driver > file.out; echo $?
      """;

  @TempDir Path folder;

  @Test
  void aNodeRunsProgramsWithoutAToken() throws Exception {
    assumeTrue(
        System.getProperty("user.name").equals("root") && Files.exists(Path.of("/usr/sbin/ip")),
        "a network namespace needs root and ip");
    Programs.build(folder, List.of("driver"));
    SoftwareServer.secret(
        folder.resolve("tokens"), "node07 certificate=node07.cluster.example max-sessions=4");
    Finished made =
        Finished.run(
            folder,
            Map.of("PATH", "/usr/bin:/bin"),
            List.of(
                Checkout.ROOT.resolve("remoting-bridge/client/test/certificates.sh").toString(),
                folder.resolve("pki").toString()));
    assertThat(made.code()).as("%s", made).isZero();
    Finished all =
        Finished.run(
            folder,
            Map.of(
                "PATH",
                Checkout.HOME.resolve("bin") + ":/usr/sbin:/usr/bin:/sbin:/bin",
                "GRAFT_NAME",
                "node07",
                "LD_LIBRARY_PATH",
                Checkout.HOME.resolve("lib/client").toString()),
            List.of("unshare", "-n", "sh", "-c", SCRIPT.formatted(AWAY)),
            Duration.ofMinutes(3));
    assertThat(all.out())
        .as("%s", all)
        .isEqualTo(
            "good\n0\nexpired\n1\nstranger\n1\nelsewhere\n1\nmissing\n1\ntoken\n1\nfile\n0\n");
    for (String out : List.of("good.out", "file.out")) {
      assertThat(folder.resolve(out))
          .hasSameTextualContentAs(Path.of("src/test/resources/driver-api.txt"));
    }
    assertSaid("expired", "refused node07: the client's certificate is refused");
    assertSaid("stranger", "unable to get local issuer certificate");
    assertSaid("elsewhere", "which is for node08.cluster.example");
    assertSaid("missing", "pki/missing/CA/cacert.pem is not there");
    assertSaid("token", "the server does not know this name with this token");
  }

  private void assertSaid(String program, String words) {
    assertThat(folder.resolve(program + ".err")).content().contains("graft: ", words);
  }
}

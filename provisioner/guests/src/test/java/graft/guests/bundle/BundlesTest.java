package graft.guests.bundle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import graft.common.values.Name;
import graft.guests.payload.FileStamp;
import graft.guests.payload.Payload;
import graft.guests.payload.PayloadFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What bundles say, and what becomes of it. */
class BundlesTest {
  @TempDir Path folder;

  private static final Variables ALL =
      Variables.none()
          .with("client", "/c")
          .with("home", "/h")
          .with("files", "/f")
          .with("guest", "alice")
          .with("server", "tcp://10.0.2.2:7799")
          .with("encryption", "")
          .with("rdma-ports", "")
          .with("token", "/s/token")
          .with("group", "video")
          .with("token-files", "/etc/graft/token")
          .with("token-mode", "0640");

  /** A file for each source. */
  private static PayloadBuilder builder() {
    return new PayloadBuilder(
        source ->
            List.of(new TreeFile(new FileStamp(source.resolve("x.jar"), 1, 2), "/x.jar", true)));
  }

  @Test
  void everyBundleThatIsBuiltInCanBeBrought() {
    Bundles bundles = Bundles.near(folder);
    assertThat(bundles.names()).hasSizeGreaterThanOrEqualTo(12);
    for (String name : bundles.names()) {
      FoundBundle found = bundles.find(new Name(name)).orElseThrow();
      PayloadBuilder payload = builder();
      payload.add(found, ALL);
      assertThat(payload.build("alice").isEmpty()).as(name).isFalse();
      assertThat(found.bundle().description()).as(name).endsWith(".");
    }
  }

  @Test
  void theClientsTokenIsASecretForTheGroupThatMayUseIt() {
    PayloadBuilder builder = builder();
    builder.add(Bundles.near(folder).find(Bundles.CLIENT).orElseThrow(), ALL);
    Payload payload = builder.build("alice");
    assertThat(payload.files())
        .contains(
            PayloadFile.secret(Path.of("/s/token"), "/etc/graft/token", 0640).inGroup("video"))
        .contains(
            PayloadFile.text(
                "# Written by graft.\nserver = tcp://10.0.2.2:7799\nname = alice\n"
                    + "token-file = /etc/graft/token\n",
                "/etc/graft/client.conf",
                0644));
  }

  @Test
  void aBundleOfTheSiteIsAFolderAndComesBeforeOneThatIsBuiltIn() throws Exception {
    bundle("infiniband", "name: infiniband\ndescription: Ours.\npackages: [libstdc++6]\n");
    FoundBundle found = Bundles.near(folder).find(new Name("infiniband")).orElseThrow();
    assertThat(found.bundle().description()).isEqualTo("Ours.");
    assertThat(found.folder()).contains(folder.resolve("bundles/infiniband"));
    assertThat(Bundles.near(folder).find(new Name("nothing"))).isEmpty();
  }

  @Test
  void everythingWrongWithABundleIsSaidAtOnce() throws Exception {
    bundle(
        "tools",
        """
        name: tool
        description: Ours.
        packages: [Not-A-Package]
        files:
          - {path: etc/x, content: a}
          - {path: /etc/y}
        environment: ["A B=c"]
        """);
    assertThatThrownBy(() -> Bundles.near(folder).find(new Name("tools")))
        .isInstanceOf(BundleException.class)
        .hasMessageContaining("'packages': 'Not-A-Package' is not the name of a Debian package");
    bundle(
        "tools",
        "name: tool\ndescription: Ours.\nfiles:\n  - {path: etc/x, content: a}\n"
            + "  - {path: /etc/y}\nenvironment: [\"A B=c\"]\n");
    assertThatThrownBy(() -> Bundles.near(folder).find(new Name("tools")))
        .hasMessageContaining("1:7: its folder is called tools")
        .hasMessageContaining("'etc/x' is not an absolute path")
        .hasMessageContaining("either a 'source' or a 'content'")
        .hasMessageContaining("'A B=c' is not NAME=VALUE");
  }

  @Test
  void aSettingThatIsNotGivenIsAskedFor() {
    FoundBundle rcuda = Bundles.near(folder).find(new Name("rcuda-client")).orElseThrow();
    Variables without = Variables.none().with("files", "/opt/rcuda");
    assertThatThrownBy(() -> builder().add(rcuda, without))
        .hasMessageContaining("it needs a value for 'server'");
    PayloadBuilder builder = builder();
    builder.add(rcuda, without.with("server", "gpu-host"));
    Payload payload = builder.build("alice");
    assertThat(payload.environment()).contains("RCUDA_DEVICE_0=gpu-host:0", "RCUDA_DEVICE_COUNT=1");
    assertThat(text(payload, "/etc/profile.d/zz-graft.sh"))
        .contains("export RCUDA_DEVICE_0='gpu-host:0'\n");
    assertThat(text(payload, "/etc/systemd/system.conf.d/graft.conf"))
        .startsWith("[Manager]\nDefaultEnvironment=\"RCUDA_DEVICE_COUNT=1\" ");
  }

  @Test
  void twoBundlesMayNotMeanTheSameThingDifferently() {
    PayloadBuilder builder = builder();
    Variables given = ALL.with("server", "a");
    builder.add(Bundles.near(folder).find(new Name("rcuda-client")).orElseThrow(), given);
    assertThatThrownBy(
            () ->
                builder.add(
                    Bundles.near(folder).find(new Name("lupine-client")).orElseThrow(), given))
        .hasMessageContaining("LD_LIBRARY_PATH, which another bundle of the guest sets as well");
  }

  @Test
  void anUnknownVariableIsNamed() {
    assertThatThrownBy(() -> ALL.expand("${servr}"))
        .hasMessageStartingWith("${servr} has no value; known are client, encryption, files");
  }

  private static String text(Payload payload, String path) {
    return payload.files().stream()
        .filter(file -> file.path().equals(path))
        .flatMap(file -> file.text().stream())
        .findFirst()
        .orElseThrow();
  }

  private void bundle(String name, String text) throws IOException {
    Path own = folder.resolve("bundles").resolve(name);
    Files.createDirectories(own);
    Files.writeString(own.resolve("bundle.yaml"), text);
  }
}

package graft.cli.host;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import graft.common.GraftException;
import graft.common.json.Json;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.yaml.snakeyaml.Yaml;

/** The file that container engines read, and files of others that lie in its place. */
class CdiFileTest {
  private static final Path HOOK = Path.of("/opt/graft/lib/client/graft-oci-hook");

  @TempDir Path folder;

  private static CdiSpec with(CdiSpec spec, String name) {
    return spec.with(
        name,
        List.of(new CdiSpec.Mount(Path.of("/opt/a \"quoted\" folder"), "/usr/lib/graft")),
        Map.of("GRAFT_NAME", name),
        HOOK);
  }

  @Test
  void anEngineReadsWhatTheInterfaceAsksFor() throws Exception {
    String text = with(new CdiSpec(Map.of()), "bob").text();
    assertThat(Json.readObject(text))
        .isEqualTo(
            Map.of(
                "cdiVersion",
                "0.5.0",
                "kind",
                "graft.dev/vgpu",
                "devices",
                List.of(
                    Map.of(
                        "name",
                        "bob",
                        "containerEdits",
                        Map.of(
                            "env",
                            List.of("GRAFT_NAME=bob"),
                            "mounts",
                            List.of(
                                Map.of(
                                    "hostPath",
                                    "/opt/a \"quoted\" folder",
                                    "containerPath",
                                    "/usr/lib/graft",
                                    "options",
                                    List.of("ro", "nosuid", "nodev", "rbind"))),
                            "hooks",
                            List.of(
                                Map.of(
                                    "hookName", "createContainer", "path", HOOK.toString())))))));
    Object yaml = new Yaml().load(text); // engines read *.yaml with a parser for YAML
    assertThat(yaml).isEqualTo(Json.readObject(text));
  }

  @Test
  void devicesAreAddedReplacedAndRemoved() {
    CdiFile file = new CdiFile(folder.resolve("cdi/graft.json"));
    file.write(with(with(file.read(), "bob"), "alice"));
    file.write(with(file.read(), "bob"));
    assertThat(file.read().devices()).containsOnlyKeys("alice", "bob");
    file.write(file.read().without("alice"));
    assertThat(file.read().devices()).containsOnlyKeys("bob");
    assertThat(folder.resolve("cdi"))
        .isDirectoryContaining(path -> path.endsWith("graft.json"))
        .isDirectoryNotContaining("glob:**.unfinished");
  }

  @Test
  void everyUserMayReadTheFileAndNobodyElseWrite() throws Exception {
    Path path = folder.resolve("graft.json");
    new CdiFile(path).write(with(new CdiSpec(Map.of()), "bob"));
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(path)))
        .isEqualTo("rw-r--r--");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "cdiVersion: 0.5.0\nkind: graft/vgpu\n",
        "{\"cdiVersion\": \"0.5.0\", \"kind\": \"nvidia.com/gpu\", \"devices\": []}",
        "{\"kind\": \"graft.dev/vgpu\"}",
        "{\"kind\": \"graft.dev/vgpu\", \"devices\": {}}",
        "{\"kind\": \"graft.dev/vgpu\", \"devices\": [1]}",
        "{\"kind\": \"graft.dev/vgpu\", \"devices\": [{\"name\": \"../x\", \"containerEdits\": {}}]}",
        "{\"kind\": \"graft.dev/vgpu\", \"devices\": [{\"name\": \"x\", \"containerEdits\": []}]}",
        "[[[[[[[["
      })
  void aFileOfSomebodyElseIsNeitherReadNorReplaced(String text) throws Exception {
    Path path = Files.writeString(folder.resolve("graft.json"), text);
    assertThatThrownBy(() -> new CdiFile(path).read())
        .isInstanceOf(GraftException.class)
        .hasMessageContaining("was not written by graft cdi");
    assertThat(path).hasContent(text);
  }

  @Test
  void aLinkIsNotFollowed() throws Exception {
    Path target = folder.resolve("target");
    new CdiFile(target).write(with(new CdiSpec(Map.of()), "bob"));
    Path link = Files.createSymbolicLink(folder.resolve("link"), target);
    assertThatThrownBy(() -> new CdiFile(link).read()).isInstanceOf(GraftException.class);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"", "-a", "a-", "a/b", "..", "a b", "a=b", "a,b", "a\nb", "\u00e4", "a:", "_a"})
  void namesThatAnEngineRefusesAreNone(String name) {
    assertThat(CdiSpec.isName(name)).isFalse();
    assertThat(CdiSpec.isName("a" + name.length() + "_.:-z")).isTrue();
  }

  @Test
  void aConfigurationsSocketsAreFound() throws Exception {
    Path file =
        Files.writeString(
            folder.resolve("client.conf"),
            "# server = unix:///no\nname = unix:///no\n"
                + "server = shm:///run/a.sock, unix:///run/a.sock; tcp://host:7799;unix:///b\n");
    assertThat(ClientConfiguration.sockets(file))
        .containsExactly(Path.of("/run/a.sock"), Path.of("/b"));
  }
}

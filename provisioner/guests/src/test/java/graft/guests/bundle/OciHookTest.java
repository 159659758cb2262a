package graft.guests.bundle;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The hook that CDI calls for containers in guests, with good and hostile containers. */
class OciHookTest {
  /** Made by the module's build. */
  private static final Path HOOK = Path.of("oci-hook/target/graft-oci-hook").toAbsolutePath();

  private static final List<String> LIBRARIES = List.of("libcuda.so.1", "libnvidia-ml.so.1");

  @TempDir Path folder;
  private Path bundle;
  private Path root;
  private String said = "";

  @BeforeEach
  void describe() throws Exception {
    bundle = Files.createDirectory(folder.resolve("bundle"));
    root = Files.createDirectory(bundle.resolve("rootfs"));
    config("{\"ociVersion\": \"1.0.2\", \"root\": {\"path\": \"rootfs\", \"readonly\": false}}");
  }

  private void config(String json) throws IOException {
    Files.writeString(bundle.resolve("config.json"), json);
  }

  private String state() {
    return "{\"ociVersion\":\"1.0.2\",\"id\":\"c\",\"pid\":1,\"bundle\":\"" + bundle + "\"}";
  }

  private int run(String state) throws Exception {
    return run(state, "");
  }

  /** The exit code; what the hook said is in {@link #said}. */
  private int run(String state, String preload) throws Exception {
    ProcessBuilder builder = new ProcessBuilder(HOOK.toString()).redirectErrorStream(true);
    builder.redirectInput(Files.writeString(folder.resolve("state"), state).toFile());
    if (!preload.isEmpty()) {
      builder.environment().put("LD_PRELOAD", preload);
      builder.environment().put("LD_AUDIT", preload);
      builder.environment().put("GLIBC_TUNABLES", "glibc.malloc.mxfast=glibc.malloc.mxfast=A");
    }
    Process process = builder.start();
    said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor(20, TimeUnit.SECONDS)).isTrue();
    return process.exitValue();
  }

  private static void assertLinked(Path loaders) throws IOException {
    for (String library : LIBRARIES) {
      assertThat(Files.readSymbolicLink(loaders.resolve(library)))
          .isEqualTo(Path.of("/usr/lib/graft", library));
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"usr/lib/x86_64-linux-gnu", "lib/x86_64-linux-gnu", "usr/lib64", "lib64"})
  void theClientIsLinkedWhereTheLoaderLooks(String loaders) throws Exception {
    Path there = Files.createDirectories(root.resolve(loaders));
    assertThat(run(state())).as(said).isZero();
    assertLinked(there);
    assertThat(run(state())).as("a second time").isZero();
    assertThat(said).isEmpty();
  }

  @Test
  void anAbsoluteRootIsFoundToo() throws Exception {
    Path elsewhere = Files.createDirectories(folder.resolve("a \u00fc \\ root/usr/lib64"));
    String path = elsewhere.getParent().getParent().toString();
    config(
        "{\"root\":{\"path\":\""
            + path.replace("\\", "\\\\").replace("\u00fc", "\\u00FC")
            + "\"}}");
    assertThat(run(state())).as(said).isZero();
    assertLinked(elsewhere);
  }

  /** In a mount namespace of its own, whose {@code /sys} has devices that this machine has not. */
  @Test
  @EnabledIfSystemProperty(named = "user.name", matches = "root")
  void theSharedMemoryIsWritableInTheContainerAndNothingElse() throws Exception {
    Files.createDirectory(root.resolve("sys"));
    Path state = Files.writeString(folder.resolve("state"), state());
    Process process =
        new ProcessBuilder("unshare", "--mount", "sh", "-euc", CONTAINER, "sh", HOOK.toString())
            .redirectErrorStream(true)
            .redirectInput(state.toFile())
            .directory(folder.toFile())
            .start();
    said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor(20, TimeUnit.SECONDS)).isTrue();
    assertThat(said).contains("memory written", "other device read-only", "vendor read-only");
    assertThat(process.exitValue()).as(said).isZero();
  }

  private static final String CONTAINER =
      """
      devices=/sys/bus/pci/devices
      mount -t tmpfs none $devices
      for device in 0000:02:01.0 0000:03:00.0; do
        mkdir $devices/$device
        echo 0x1af4 >$devices/$device/vendor
        echo 0x1110 >$devices/$device/device
        echo nothing >$devices/$device/resource2
      done
      echo 0x1041 >$devices/0000:03:00.0/device
      mkdir $devices/unreadable
      mount --rbind /sys bundle/rootfs/sys
      mount -o remount,bind,ro bundle/rootfs/sys
      mount -o remount,bind,ro bundle/rootfs$devices
      "$1"
      echo written >bundle/rootfs$devices/0000:02:01.0/resource2
      grep -q written $devices/0000:02:01.0/resource2 && echo memory written
      (echo x >bundle/rootfs$devices/0000:03:00.0/resource2) 2>/dev/null || echo other device read-only
      (echo x >bundle/rootfs$devices/0000:02:01.0/vendor) 2>/dev/null || echo vendor read-only
      """;

  @Test
  void aRealDriverStays() throws Exception {
    Path there = Files.createDirectories(root.resolve("usr/lib/x86_64-linux-gnu"));
    Path other = Files.createDirectories(root.resolve("usr/lib64"));
    Files.writeString(there.resolve("libcuda.so.1"), "a driver");
    Files.createSymbolicLink(other.resolve("libnvidia-ml.so.1"), Path.of("libnvidia-ml.so.580"));
    assertThat(run(state())).isZero();
    assertThat(there.resolve("libcuda.so.1")).hasContent("a driver");
    assertThat(there.resolve("libnvidia-ml.so.1")).doesNotExist();
    assertThat(Files.readSymbolicLink(other.resolve("libnvidia-ml.so.1")))
        .isEqualTo(Path.of("libnvidia-ml.so.580"));
  }

  @Test
  void linksLeadNowhereOutOfTheContainer() throws Exception {
    Path outside = Files.createDirectories(folder.resolve("outside/x86_64-linux-gnu"));
    Path lib = Files.createDirectories(root.resolve("usr")).resolve("lib");
    Files.createSymbolicLink(lib, outside.getParent());
    Files.createSymbolicLink(root.resolve("lib"), Path.of("../../outside"));
    Files.createSymbolicLink(root.resolve("lib64"), Path.of("/proc/self/root").resolve(outside));
    Files.createSymbolicLink(root.resolve("usr/lib64"), Path.of("/proc/self/cwd"));
    assertThat(run(state())).isZero();
    assertThat(said).contains("no such file or folder");
    assertThat(outside).isEmptyDirectory();

    // An absolute link is one within the container.
    Path inside = Files.createDirectories(root.resolve(outside.toString().substring(1)));
    assertThat(run(state())).isZero();
    assertLinked(inside);
    assertThat(outside).isEmptyDirectory();
  }

  @Test
  void textsThatLookLikeKeysAreNone() throws Exception {
    Path there = Files.createDirectories(root.resolve("usr/lib64"));
    Path wrong = Files.createDirectories(folder.resolve("wrong/usr/lib64"));
    String path = wrong.getParent().getParent().toString();
    config(
        """
{"process": {"env": ["x\\", \\"root\\": {\\"path\\": \\"%1$s\\"}"], "root": {"path": "%1$s"}},
 "annotations": {"\\"root\\"": "%1$s", "a": "{\\"root\\":{\\"path\\":\\"%1$s\\"}}"},
 "mounts": [{"root": {"path": "%1$s"}}, []],
 "root": {"deep": {"path": "%1$s"}, "path": "rootfs"}, "number": -1.5e3, "none": null}
"""
            .formatted(path));
    String state = state().replace("}", ",\"annotations\":{\"bundle\":\"" + path + "\"}}");
    assertThat(run(state)).as(said).isZero();
    assertLinked(there);
    assertThat(wrong).isEmptyDirectory();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "{",
        "[]",
        "null",
        "{}",
        "{\"bundle\": 1}",
        "{\"bundle\": [\"/tmp\"]}",
        "{\"bundle\": \"relative\"}",
        "{\"bundle\": \"/tmp\\u0000/x\"}",
        "{\"bundle\": \"/tmp\\ud800\"}",
        "{\"bundle\": \"/not/there\"}",
        "{\"bundle\": \"/tmp\"} more",
        "{\"bundle\": \"/tmp",
        "{\"bundle\" \"/tmp\"}",
        "{bundle: \"/tmp\"}"
      })
  void aStateThatIsNoneIsRefused(String state) throws Exception {
    Files.createDirectories(root.resolve("usr/lib64"));
    assertThat(run(state)).isEqualTo(1);
    assertThat(said).startsWith("graft: ").hasLineCount(1);
  }

  @Test
  void largeAndDeepTextsAreRefused() throws Exception {
    String nested = "[".repeat(100_000) + "]".repeat(100_000);
    assertThat(run("{\"x\":" + nested + ",\"bundle\":\"" + bundle + "\"}")).isEqualTo(1);
    assertThat(run("{\"bundle\":\"/" + "x".repeat(5000) + "\"}")).isEqualTo(1);
    assertThat(said).contains("too long");
    assertThat(run("{\"x\":\"" + "x".repeat(2 << 20) + "\"}")).isEqualTo(1);
    assertThat(said).contains("too large");
    config("{\"root\":{\"path\":\"rootfs\"},\"x\":\"" + "x".repeat(9 << 20) + "\"}");
    assertThat(run(state())).isEqualTo(1);
    assertThat(said).contains("too large");
  }

  @Test
  void anyBytesEndItOrderly() throws Exception {
    Random random = new Random(1);
    byte[] good = state().getBytes(StandardCharsets.UTF_8);
    for (int i = 0; i < 300; i++) {
      byte[] bad = good.clone();
      for (int k = random.nextInt(4); k >= 0; k--) {
        bad[random.nextInt(bad.length)] = (byte) random.nextInt(256);
      }
      assertThat(run(new String(bad, StandardCharsets.ISO_8859_1))).isBetween(0, 1);
    }
  }

  @Test
  void theEnvironmentLoadsNothing() throws Exception {
    Path source = Files.writeString(folder.resolve("evil.c"), evil(folder.resolve("loaded")));
    Path library = folder.resolve("evil.so");
    assertThat(
            new ProcessBuilder(
                    "gcc", "-shared", "-fPIC", "-o", library.toString(), source.toString())
                .inheritIO()
                .start()
                .waitFor())
        .isZero();
    Path there = Files.createDirectories(root.resolve("usr/lib64"));
    assertThat(run(state(), library.toString())).as(said).isZero();
    assertLinked(there);
    assertThat(folder.resolve("loaded")).doesNotExist();

    ProcessBuilder control = new ProcessBuilder("true");
    control.environment().put("LD_PRELOAD", library.toString());
    assertThat(control.start().waitFor()).isZero();
    assertThat(folder.resolve("loaded")).as("a dynamic program loads it").exists();
  }

  private static String evil(Path file) {
    return "#include <fcntl.h>\n__attribute__((constructor)) static void evil(void) {\n"
        + ("  open(\"" + file + "\", O_CREAT | O_WRONLY, 0600);\n}\n");
  }

  @Test
  void aFolderThatIsNoFolderIsPassedOver() throws Exception {
    Files.createDirectories(root.resolve("usr/lib"));
    Files.writeString(root.resolve("lib64"), "a file");
    assertThat(run(state())).isZero();
    assertLinked(root.resolve("usr/lib"));
    assertThat(Files.exists(root.resolve("lib64/libcuda.so.1"), LinkOption.NOFOLLOW_LINKS))
        .isFalse();
  }
}

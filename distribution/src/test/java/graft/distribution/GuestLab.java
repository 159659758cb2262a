package graft.distribution;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A deployment of a test's guests, with a unique name and network.
 *
 * @param name the name of the deployment and of its network, and the prefix of its guests' names
 * @param folder the folder of the descriptor {@code lab.yaml}, of the state and, in {@code client},
 *     of a client that replaces the built one
 */
record GuestLab(String name, Path folder) {
  private static final Duration LIMIT = Duration.ofMinutes(30);

  /** The variable with the cloud image, which {@code ./graft test --long} builds. */
  static final String IMAGE = "GRAFT_CLOUD_IMAGE";

  static GuestLab in(Path folder) {
    return new GuestLab("lab" + UUID.randomUUID().toString().substring(0, 6), folder);
  }

  Path descriptor() {
    return folder.resolve("lab.yaml");
  }

  static String image() {
    return System.getenv(IMAGE);
  }

  /** The URI of the libvirt that Graft uses. */
  static String uri() {
    return System.getProperty("user.name").equals("root") ? "qemu:///system" : "qemu:///session";
  }

  /** The small image's kernel, or its initramfs. */
  static Path small(String file) {
    return Checkout.PROGRAMS.resolve("guest").resolve(file);
  }

  /** The small image's initramfs with an overlay of these programs, by path. */
  Path initramfsWith(Map<String, String> files) throws IOException, InterruptedException {
    Path overlay = folder.resolve("overlay");
    for (Map.Entry<String, String> file : files.entrySet()) {
      Path path = overlay.resolve(file.getKey());
      Files.createDirectories(path.getParent());
      Files.writeString(path, file.getValue());
      assertThat(path.toFile().setExecutable(true)).isTrue();
    }
    Path made = folder.resolve("initramfs.cpio");
    Files.copy(small("initramfs.cpio"), made, StandardCopyOption.REPLACE_EXISTING);
    String line = "cd \"$0\" && find . | cpio --quiet -o -H newc >>\"$1\"";
    run(0, List.of("/bin/sh", "-c", line, overlay.toString(), made.toString()));
    return made;
  }

  /** The gateway of a network that other deployments of this machine are unlikely to use. */
  String gateway() {
    int hash = Math.floorMod(name.hashCode(), 50 * 200);
    return "10." + (50 + hash % 50) + "." + (20 + hash / 50) + ".1";
  }

  /** Runs graft and returns its whole output. */
  String graft(int expected, String... words) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(List.of(Checkout.HOME.resolve("bin/graft").toString()));
    command.addAll(List.of(words));
    return run(expected, command);
  }

  /** Compiles {@code loop.c} to {@code loop} in the folder. */
  void compileLoop() throws IOException, InterruptedException {
    run(
        0,
        List.of(
            "gcc",
            "-o",
            folder.resolve("loop").toString(),
            Checkout.ROOT.resolve("distribution/src/test/c/loop.c").toString(),
            Checkout.HOME.resolve("lib/client/libcuda.so.1").toString()));
  }

  /** Starts graft without waiting for its end. */
  Begun begin(String... words) throws IOException {
    List<String> command = new ArrayList<>(List.of(Checkout.HOME.resolve("bin/graft").toString()));
    command.addAll(List.of(words));
    return begin(command);
  }

  /** As {@link #begin}, on a terminal of 33 rows and 111 columns that script(1) makes. */
  Begun beginOnTerminal(String... words) throws IOException {
    String line =
        Stream.concat(Stream.of(Checkout.HOME.resolve("bin/graft").toString()), Stream.of(words))
            .map(word -> "'" + word.replace("'", "'\\''") + "'")
            .collect(Collectors.joining(" ", "stty rows 33 cols 111; exec ", ""));
    return begin(List.of("script", "-q", "-e", "-c", line, "/dev/null"));
  }

  private Begun begin(List<String> command) throws IOException {
    Path said = folder.resolve("said");
    ProcessBuilder builder =
        new ProcessBuilder(command)
            .directory(folder.toFile())
            .redirectErrorStream(true)
            .redirectOutput(said.toFile());
    builder.environment().putAll(environment());
    return new Begun(builder.start(), said);
  }

  /** A running graft process. */
  record Begun(Process process, Path said) {
    /** Waits until the process has printed the text. */
    void untilItSays(String text) throws IOException, InterruptedException {
      long end = System.nanoTime() + LIMIT.toNanos();
      while (!Files.readString(said).contains(text)) {
        assertThat(process.isAlive() && System.nanoTime() < end)
            .as("it says '%s':\n%s", text, Files.readString(said))
            .isTrue();
        Thread.sleep(20);
      }
    }

    /** Waits for the end of the process and returns its whole output. */
    String ends(int... codes) throws IOException, InterruptedException {
      assertThat(process.waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
      String all = Files.readString(said);
      assertThat(codes).as(all).contains(process.exitValue());
      return all;
    }
  }

  private Map<String, String> environment() {
    Map<String, String> environment = new HashMap<>(System.getenv());
    environment.put("GRAFT_STATE_DIR", folder.resolve("state").toString());
    environment.put("LC_ALL", "C.UTF-8");
    Path client = folder.resolve("client");
    if (Files.exists(client)) {
      environment.put("GRAFT_CLIENT_DIR", client.toString());
    }
    return environment;
  }

  /** Runs a program of this machine with the deployment's state and returns its whole output. */
  String run(int expected, List<String> command) throws IOException, InterruptedException {
    Finished finished = Finished.run(folder, environment(), command, LIMIT);
    String said = finished.out() + finished.err();
    assertThat(finished.code()).as("%s:\n%s", command, said).isEqualTo(expected);
    return said;
  }

  /** Runs a script in a guest, as root. */
  String inGuest(String guest, String script) throws IOException, InterruptedException {
    return graft(0, "exec", name, guest, "--", "/bin/sh", "-c", script);
  }

  /** The address that libvirt gave a guest. */
  String address(String guest) throws IOException, InterruptedException {
    String leases = run(0, List.of("virsh", "-q", "-c", uri(), "domifaddr", guest));
    return leases.replaceAll("(?s).*ipv4 +([0-9.]+)/.*", "$1");
  }

  /**
   * Runs a script in a guest by the guest agent, without Graft. Waits for the agent and for the end
   * of the script.
   */
  void byAgent(String guest, String script) throws IOException, InterruptedException {
    run(0, List.of("python3", "-c", BY_AGENT, uri(), guest, script));
  }

  private static final String BY_AGENT =
      """
      import json, subprocess, sys, time
      uri, guest, script = sys.argv[1:]
      def ask(command, **arguments):
          text = json.dumps({"execute": command, "arguments": arguments})
          return json.loads(subprocess.check_output(["virsh", "-c", uri, "qemu-agent-command", guest, text]))["return"]
      while subprocess.call(["virsh", "-c", uri, "qemu-agent-command", guest, '{"execute": "guest-ping"}'], stderr=subprocess.DEVNULL):
          time.sleep(0.5)
      pid = ask("guest-exec", path="/bin/bash", arg=["-c", script])["pid"]
      while not (status := ask("guest-exec-status", pid=pid))["exited"]:
          time.sleep(0.1)
      sys.exit(status["exitcode"])
      """;

  void destroy() throws IOException, InterruptedException {
    graft(0, "destroy", "--delete-data", descriptor().toString());
  }
}

package graft.distribution;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfEnvironmentVariable;
import org.junit.jupiter.api.io.TempDir;

/**
 * The servers of other middleware as services of a Debian guest. Stand-ins replace the vendors'
 * programs: they take library, settings and port as the real ones do, and send their start
 * parameters to each caller.
 */
@Tag("integration")
@EnabledIfEnvironmentVariable(named = GuestLab.IMAGE, matches = ".+")
final class ServerGuestsTest {
  /** A stand-in that fails, like a real server, without its library or its folder. */
  private static final String STAND_IN =
      """
      #!/usr/bin/python3
      import ctypes, json, os, socket, sys, tempfile
      library, port = %s, %s
      if library and ctypes.CDLL(library).cuInit(0) != 801:
          sys.exit("the library is another one")
      server = socket.create_server(("", int(port)))
      while True:
          caller = server.accept()[0]
          caller.sendall("\\n".join(sys.argv[1:] + [f"{k}={v}" for k, v in os.environ.items()]).encode())
          caller.close()
      """;

  /**
   * A profile.
   *
   * @param program the vendor's program, in the vendor's folder
   * @param library the library that the program loads, in the vendor's folder; empty if none
   * @param set settings of the profile's user
   * @param listens the Python expression from which the program takes its port
   * @param port the port at which the program must answer
   * @param says the start parameters that the program must report
   */
  private record Server(
      String name,
      String program,
      String library,
      String set,
      String listens,
      int port,
      List<String> says) {}

  private static final List<Server> SERVERS =
      List.of(
          new Server(
              "rcuda",
              "bin/rCUDAd",
              "lib/librcuda.so",
              "cuda=/srv/cuda",
              "8308",
              8308,
              List.of("-i", "LD_LIBRARY_PATH=/srv/cuda/lib64:/opt/rcuda/lib")),
          new Server(
              "gvirtus",
              "bin/gvirtus-backend",
              "lib/libgvirtus-plugin-cudart.so",
              "port=9998",
              "json.load(open(sys.argv[1]))['communicator'][0]['endpoint']['port']",
              9998,
              List.of("/opt/gvirtus/etc/properties.json", "GVIRTUS_HOME=/opt/gvirtus")),
          new Server(
              "ds-cuda",
              "bin/dscudad",
              "",
              "transport=ibv",
              "tempfile.TemporaryFile(dir=os.environ['DSCUDA_SVRPATH']) and 65432",
              65432,
              List.of("DSCUDA_REMOTECALL=ibv", "DSCUDA_PATH=/opt/dscuda")),
          new Server(
              "lupine",
              "lupine_driver_server",
              "",
              "port=14834",
              "os.environ['LUPINE_PORT']",
              14834,
              List.of("LUPINE_PORT=14834")));

  @TempDir Path folder;
  private GuestLab lab;
  private String guest;

  @AfterEach
  void takeAway() throws Exception {
    lab.destroy();
  }

  @Test
  void theyRunAsServicesOfTheGuestWithTheirSettings() throws Exception {
    lab = GuestLab.in(folder);
    guest = lab.name() + "-owner";
    StringBuilder bundles = new StringBuilder();
    for (Server server : SERVERS) {
      lay(server);
      bundles.append(
          "      - {name: %s-server, files: %s, set: [\"%s\"]}\n"
              .formatted(server.name(), server.name(), server.set()));
    }
    Files.writeString(
        folder.resolve("no-mirror.yaml"),
        "#cloud-config\nbootcmd: [echo 127.0.0.1 deb.debian.org security.debian.org >>/etc/hosts]\n");
    describe(bundles.toString());
    lab.graft(0, "apply", lab.descriptor().toString());
    assertThat(lab.graft(0, "apply", lab.descriptor().toString())).contains("nothing to do");

    for (Server server : SERVERS) {
      assertThat(heard(server)).as(server.name()).contains(server.says());
      String service = server.name() + "-server.service";
      assertThat(lab.inGuest(guest, "systemctl is-enabled " + service)).isEqualTo("enabled\n");
      lab.inGuest(
          guest,
          "systemctl kill -s KILL %1$s; until systemctl is-active -q %1$s; do sleep 0.1; done"
              .formatted(service));
      assertThat(heard(server)).as(server.name() + ", started again").contains(server.says());
    }
    driversSayWhatIsMissing("infiniband", "rdma-core", "no InfiniBand adapter is in this guest");
    driversSayWhatIsMissing("nvidia-driver", "nvidia-smi", "no GPU of NVIDIA's is in this guest");
  }

  /** Checks the drivers' messages in a guest that reaches no Debian mirror and has no device. */
  private void driversSayWhatIsMissing(String bundle, String anyPackage, String missing)
      throws Exception {
    describe("      - " + bundle + "\n");
    assertThat(lab.graft(5, "apply", "--keep-on-failure", lab.descriptor().toString()))
        .containsPattern("could not be set up: cannot install .*" + anyPackage)
        .contains("fix what the message names in the guest, then apply again");
    assertThat(lab.inGuest(guest, "/usr/lib/graft/check-" + bundle + "; echo ends with $?"))
        .contains(missing)
        .endsWith("ends with 1\n");
  }

  private void describe(String bundles) throws IOException {
    Files.writeString(
        lab.descriptor(),
        """
        graft: 1
        name: %1$s
        networks: [{name: %1$s, address: %2$s/24}]
        guests:
          - name: %3$s
            image: %4$s
            memory: 512MiB
            networks: [%1$s]
            ready: {timeout: 20m}
            setup:
              user-data: no-mirror.yaml
              bundles:
        %5$s
        """
            .formatted(lab.name(), lab.gateway(), guest, GuestLab.image(), bundles.indent(2)));
  }

  /** Creates the vendor's folder. */
  private void lay(Server server) throws IOException {
    Path program = folder.resolve(server.name()).resolve(server.program());
    Files.createDirectories(program.getParent());
    String library = server.library().replaceFirst(".*/", "");
    String loads = library.isEmpty() ? "None" : "'" + library + "'";
    Files.writeString(program, STAND_IN.formatted(loads, server.listens()));
    assertThat(program.toFile().setExecutable(true)).isTrue();
    if (!library.isEmpty()) {
      Path file = folder.resolve(server.name()).resolve(server.library());
      Files.createDirectories(file.getParent());
      Files.copy(Checkout.PROGRAMS.resolve("stubs/libcuda.so.1"), file);
    }
  }

  /**
   * The parameters that the service sends to this host. A service listens only some time after its
   * start.
   */
  private String heard(Server server) throws Exception {
    String listening = "until ss -Hltn 'sport = %1$d' | grep -q .; do sleep 0.1; done";
    lab.inGuest(guest, "timeout 60 sh -c \"" + listening.formatted(server.port()) + "\"");
    try (Socket socket = new Socket(lab.address(guest), server.port())) {
      return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    }
  }
}

package graft.cli.host;

import graft.cli.host.CdiSpec.Mount;
import graft.cli.printed.HostForms;
import graft.cli.terminal.ExitCode;
import graft.cli.terminal.Output;
import graft.cli.terminal.Prints;
import graft.common.GraftException;
import graft.common.program.ClientFolder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code graft cdi}: vGPUs as devices of containers. */
@Prints(HostForms.Device.class)
@Command(
    name = "cdi",
    mixinStandardHelpOptions = true,
    header = "Writes a file by which container engines give containers a vGPU.",
    description = {
      "",
      "The file is a specification of the Container Device Interface (CDI), which Podman, Docker"
          + " since 25 and containerd read in /etc/cdi. With it"
          + " podman run --device graft.dev/vgpu=NAME gives the container the client, read-only,"
          + " and the way to its servers: with --server those servers, with a token; without, what"
          + " /etc/graft/client.conf of this machine says.",
      "",
      "A server's Unix socket is mounted into the container, which needs no network for unix:// and"
          + " shm://; after a restart of the server, containers have to be started again. For other"
          + " addresses the container needs a network path to the server.",
      "",
      "With --out the device is added to the file, or replaced there; with --remove it is taken out"
          + " again, or without NAME the whole file. Files that graft cdi has not written stay as"
          + " they are.",
      ""
    },
    footerHeading = "%nExamples:%n",
    footer = {
      "  graft cdi --server shm:///run/graft/gpu0.sock --name bob --token-file bob.token bob"
          + " --out /etc/cdi/graft.json",
      "  podman run --device graft.dev/vgpu=bob IMAGE ./train",
      "  graft cdi all --out /etc/cdi/graft.json     on a machine with a configured client",
      "  graft cdi bob --remove --out /etc/cdi/graft.json"
    })
public final class CdiCommand implements Callable<Integer> {
  private static final Path CONFIGURATION = Path.of("/etc/graft");
  private static final String TOKEN = "/etc/graft/token";
  private static final String SOCKET = "/run/graft/server";

  @Spec CommandSpec spec;

  @Mixin Output output;

  @Mixin ClientToken token;

  @Parameters(
      arity = "0..1",
      paramLabel = "NAME",
      description =
          "The device's name: letters, digits and _.:- between them (default: the client's name"
              + " with --server, else all).")
  String device;

  @Option(
      names = "--server",
      paramLabel = "URL",
      description =
          "The server to use, as for graft run. Given several times, the container has the devices"
              + " of all servers, in this order; --name and --token-file are then given once for"
              + " all servers or once for each.")
  List<ServerAddress> servers = List.of();

  @Option(
      names = "--out",
      paramLabel = "FILE",
      description = "The file, such as /etc/cdi/graft.json (default: standard output).")
  Path out;

  @Option(names = "--remove", description = "Remove the device, or the file.")
  boolean remove;

  @Override
  public Integer call() {
    if (device != null && !CdiSpec.isName(device)) {
      throw new ParameterException(
          spec.commandLine(),
          "'" + device + "' cannot be a device's name: letters, digits and _.:- between them");
    }
    if (remove) {
      remove();
      return ExitCode.OK;
    }
    CdiSpec before = out == null ? new CdiSpec(Map.of()) : new CdiFile(out).read();
    CdiSpec after = servers.isEmpty() ? configured(before) : given(before);
    if (out == null) {
      output.say(after.text().stripTrailing());
    } else {
      new CdiFile(out).write(after);
      output.say(CdiSpec.KIND + "=" + name() + " is in " + out);
    }
    output.result(
        Map.of("device", CdiSpec.KIND + "=" + name(), "file", out == null ? "" : out + ""));
    return ExitCode.OK;
  }

  private void remove() {
    if (out == null) {
      throw new ParameterException(spec.commandLine(), "--remove needs the file: --out FILE");
    }
    CdiFile file = new CdiFile(out);
    CdiSpec before = file.read(); // refuses what is not ours
    CdiSpec after = device == null ? new CdiSpec(Map.of()) : before.without(device);
    if (after.devices().isEmpty()) {
      file.delete();
    } else {
      file.write(after);
    }
  }

  private String name() {
    String name = device != null ? device : servers.isEmpty() ? "all" : token.names(servers.size());
    if (!CdiSpec.isName(name)) {
      throw new GraftException(
          "'" + name + "' cannot be a device's name", "name the device: graft cdi NAME");
    }
    return name;
  }

  /** A device of the servers of the options. */
  private CdiSpec given(CdiSpec before) {
    int count = servers.size();
    Map<String, String> variables = new LinkedHashMap<>();
    Path client = ClientFolder.existing();
    List<Mount> mounts = new ArrayList<>(List.of(new Mount(client, CdiSpec.CLIENT)));
    List<String> addresses = new ArrayList<>();
    for (ServerAddress server : servers) {
      addresses.add(address(server, addresses.size(), mounts));
    }
    variables.put("GRAFT_SERVER", String.join(ClientToken.BETWEEN_SERVERS, addresses));
    variables.put("GRAFT_NAME", token.names(count));
    if (token.files(count) != null) { // refuses another number of files than of servers
      List<String> there = new ArrayList<>();
      for (Path file : token.files) {
        String place = TOKEN + (there.isEmpty() ? "" : "-" + (there.size() + 1));
        mounts.add(new Mount(there(file), place));
        there.add(place);
      }
      variables.put("GRAFT_TOKEN_FILE", String.join(ClientToken.BETWEEN_SERVERS, there));
    }
    return before.with(name(), mounts, variables, client.resolve("graft-oci-hook"));
  }

  /**
   * The server's address in the container. Only the socket itself is mounted: its folder may have
   * the operators' socket too.
   */
  private static String address(ServerAddress server, int number, List<Mount> mounts) {
    String url = server.toString();
    if (!url.startsWith("unix://") && !url.startsWith("shm://")) {
      return url;
    }
    int end = url.indexOf("://") + "://".length();
    String place = SOCKET + (number == 0 ? "" : "-" + (number + 1)) + ".sock";
    mounts.add(new Mount(there(Path.of(url.substring(end))), place));
    return url.substring(0, end) + place;
  }

  private static Path there(Path file) {
    if (!Files.exists(file)) {
      throw new GraftException(
          "there is no file " + file, "a container's engine can mount only what is there");
    }
    return file.toAbsolutePath().normalize();
  }

  /** A device of the servers that this machine's own programs use. */
  private CdiSpec configured(CdiSpec before) {
    Path file = CONFIGURATION.resolve("client.conf");
    if (!Files.isReadable(file)) {
      throw new GraftException(
          "this machine has no " + file, "name a server: graft cdi --server URL");
    }
    boolean isInstalled = Files.exists(Path.of(CdiSpec.CLIENT, "libcuda.so.1"));
    Path client = isInstalled ? Path.of(CdiSpec.CLIENT) : ClientFolder.existing();
    List<Mount> mounts = new ArrayList<>();
    mounts.add(new Mount(client, CdiSpec.CLIENT));
    mounts.add(new Mount(CONFIGURATION, CONFIGURATION.toString()));
    for (Path socket : ClientConfiguration.sockets(file)) {
      mounts.add(new Mount(there(socket), socket.toString()));
    }
    Path hook = client.resolve("oci-hook"); // as graft apply and the package name it
    return before.with(
        name(),
        mounts,
        Map.of(),
        Files.exists(hook) ? hook : ClientFolder.existing().resolve("graft-oci-hook"));
  }
}

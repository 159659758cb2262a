package graft.provisioner.setup;

import graft.provisioner.GraftException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * All that is put into a guest.
 *
 * @param hostName the guest's name
 * @param client the client's settings; absent in a guest without a vGPU
 * @param files files of the host, the client's libraries among them
 */
public record Payload(String hostName, Optional<ClientSettings> client, List<PayloadFile> files) {

  /** The folder in the guest that holds the client's libraries. */
  public static final String CLIENT_FOLDER = "/usr/lib/graft";

  /**
   * The loader's configuration sorts last, so that a guest with a real driver keeps it: of two
   * libraries of one name, ldconfig takes the one from the folder that it reads first.
   */
  private static final String LOADER_FILE = "/etc/ld.so.conf.d/zz-graft.conf";

  /** Reads everything from the host, the token too. */
  public List<GuestFile> read() {
    List<GuestFile> read = new ArrayList<>();
    for (PayloadFile file : files) {
      read.add(new GuestFile(file.path(), file.mode(), bytes(file.source().path())));
    }
    read.add(text("/etc/hostname", 0644, hostName + "\n"));
    if (client.isPresent()) {
      ClientSettings settings = client.get();
      read.add(text(LOADER_FILE, 0644, CLIENT_FOLDER + "\n"));
      read.add(text("/etc/graft/client.conf", 0644, clientConf(settings)));
      if (settings.server().contains("ivshmem:")) {
        read.addAll(RegionRights.files());
      }
      read.add(new GuestFile("/etc/graft/token", 0600, bytes(settings.token())));
    }
    return read;
  }

  private static String clientConf(ClientSettings settings) {
    return "# Written by graft.\n"
        + ("server = " + settings.server() + "\n")
        + ("name = " + settings.name() + "\n")
        + "token-file = /etc/graft/token\n";
  }

  private static GuestFile text(String path, int mode, String text) {
    return new GuestFile(path, mode, text.getBytes(StandardCharsets.UTF_8));
  }

  private static byte[] bytes(Path file) {
    try {
      return Files.readAllBytes(file);
    } catch (IOException e) {
      throw new GraftException(
          "cannot read " + file + " for the guest: " + e, "make it readable, then apply again", e);
    }
  }
}

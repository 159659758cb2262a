package graft.deployment;

import graft.common.program.ClientFolder;
import graft.guests.connection.Ended;
import graft.guests.connection.GuestConnection;
import graft.guests.image.ImageStore;
import graft.guests.payload.Payload;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** Whether the client in a guest is the one of this host, by the checksum of its library. */
enum ClientState {
  CURRENT("current", "is this host's"),
  STALE("stale", "is not the one of this host"),
  MISSING("missing", "is missing");

  /** The client's library in a guest. */
  static final String LIBRARY = Payload.CLIENT_FOLDER + "/libcuda.so.1";

  private static final int CHECKSUM = 64;

  private final String word;
  private final String phrase;

  ClientState(String word, String phrase) {
    this.word = word;
    this.phrase = phrase;
  }

  String word() {
    return word;
  }

  String phrase() {
    return phrase;
  }

  /**
   * Asks a guest. Its answer is compared and never shown.
   *
   * @return empty if this host has no client to compare with
   */
  static Optional<ClientState> in(GuestConnection connection, Duration limit) {
    Path ours = ClientFolder.path(System.getenv()).resolve("libcuda.so.1");
    return Files.isReadable(ours)
        ? Optional.of(compare(connection, limit, ImageStore.sha256(ours)))
        : Optional.empty();
  }

  static ClientState compare(GuestConnection connection, Duration limit, String checksum) {
    Ended ended = connection.run(List.of("sha256sum", LIBRARY), new byte[0], limit);
    if (!ended.succeeded()) {
      return MISSING;
    }
    String said = ended.outputText();
    return said.length() > CHECKSUM && said.substring(0, CHECKSUM).equals(checksum)
        ? CURRENT
        : STALE;
  }
}

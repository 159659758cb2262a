package graft.deployment;

import graft.common.GraftException;
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
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

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
   * Begins to compute the checksum of this host's client, which takes some time in a new process.
   *
   * @return empty if this host has no client to compare with
   */
  static Optional<CompletableFuture<String>> checksumOfHost() {
    Path ours = ClientFolder.path(System.getenv()).resolve("libcuda.so.1");
    return Files.isReadable(ours)
        ? Optional.of(CompletableFuture.supplyAsync(() -> ImageStore.sha256(ours)))
        : Optional.empty();
  }

  /**
   * Asks a guest. Its answer is compared and never shown.
   *
   * @param checksum of this host's client
   * @throws GraftException if the guest does not answer, or the host's client cannot be read
   */
  static ClientState compare(
      GuestConnection connection, Duration limit, CompletableFuture<String> checksum) {
    Ended ended = connection.run(List.of("sha256sum", LIBRARY), new byte[0], limit);
    if (!ended.succeeded()) {
      return MISSING;
    }
    String said = ended.outputText();
    return said.length() > CHECKSUM && said.substring(0, CHECKSUM).equals(result(checksum))
        ? CURRENT
        : STALE;
  }

  private static String result(CompletableFuture<String> checksum) {
    try {
      return checksum.join();
    } catch (CompletionException e) {
      throw e.getCause() instanceof GraftException ours ? ours : e;
    }
  }
}

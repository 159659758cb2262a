package graft.remoting.api;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * What clients of an earlier release send: the signatures of that release's functions, in the order
 * of their ids. The server knows such a client by the hash of these signatures, and serves it with
 * the functions of the same signatures.
 *
 * @param version the release
 */
record EarlierRelease(String version, List<String> signatures) {
  /** The releases whose clients are served; each is a file in the folder "releases". */
  private static final List<String> SERVED = List.of("0.1.0", "0.2.0");

  /** Loads the releases whose clients are served. */
  static List<EarlierRelease> all() {
    return SERVED.stream().map(EarlierRelease::load).toList();
  }

  private static EarlierRelease load(String version) {
    try (InputStream in = EarlierRelease.class.getResourceAsStream("releases/" + version)) {
      if (in == null) {
        throw new IllegalStateException("releases/" + version + " is missing from the class path");
      }
      return new EarlierRelease(
          version,
          new BufferedReader(new InputStreamReader(in, StandardCharsets.UTF_8))
              .lines()
              .filter(line -> !line.startsWith("#"))
              .toList());
    } catch (IOException e) {
      throw new IllegalStateException("releases/" + version + " cannot be read", e);
    }
  }

  /** Returns the hash that a client of the release sends. */
  long hash() {
    return Description.hash(signatures);
  }

  /**
   * Returns the present id of each function of the release.
   *
   * @throws IllegalArgumentException if the description has lost one, so that a client of the
   *     release could not be served
   */
  List<Integer> ids(Description description) {
    Map<String, Integer> present = new HashMap<>();
    List<String> all = description.signatures();
    for (int i = 0; i < all.size(); i++) {
      present.put(all.get(i), i);
    }
    List<String> lost = signatures.stream().filter(s -> !present.containsKey(s)).toList();
    if (!lost.isEmpty()) {
      throw new IllegalArgumentException(
          "clients of Graft "
              + version
              + " send functions that driver.api no longer has (a changed function gets another"
              + " symbol, and the earlier one stays): "
              + lost);
    }
    return signatures.stream().map(present::get).toList();
  }
}

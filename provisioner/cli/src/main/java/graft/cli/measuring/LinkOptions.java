package graft.cli.measuring;

import graft.common.GraftException;
import graft.comparison.link.LinkBench;
import graft.comparison.link.LinkRate;
import graft.comparison.link.Relay;
import graft.comparison.link.RoundTrip;
import graft.comparison.local.PrivateServer;
import graft.comparison.local.ProgramEnvironment;
import graft.comparison.results.Results;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The options of {@code graft bench remoting} that measure over links with delay. */
final class LinkOptions {
  @Option(
      names = "--rtt",
      paramLabel = "TIME",
      split = ",",
      description =
          "Measure over links with these round trips, such as 1ms,30ms,150ms, and without delay:"
              + " how often programs wait for the server, and how long they take.")
  List<RoundTrip> roundTrips = List.of();

  @Option(
      names = "--rate",
      paramLabel = "RATE",
      description =
          "How fast these links carry data in each direction, such as 100Mbit (default: as fast as"
              + " this machine).")
  LinkRate rate;

  @Parameters(
      arity = "0..*",
      paramLabel = "PROGRAM",
      description =
          "With --rtt: measure this program with its arguments, after --, in place of Graft's own.")
  List<String> words = List.of();

  /** Whether links are to be measured, and not channels. */
  boolean areGiven() {
    if (roundTrips.isEmpty() && rate != null) {
      throw new GraftException("--rate is the rate of a link", "add --rtt, such as --rtt 30ms");
    }
    if (roundTrips.isEmpty() && !words.isEmpty()) {
      throw new GraftException(
          "a program is measured over links only", "add --rtt, such as --rtt 30ms");
    }
    return !roundTrips.isEmpty();
  }

  List<String> program() {
    return List.copyOf(words);
  }

  /** Which link is measured, in a sentence. */
  String text() {
    return "The link is a relay inside Graft: it delays each direction by half the round trip"
        + (rate == null ? "" : ", carries " + rate + "/s in each direction")
        + ", and loses nothing.";
  }

  /**
   * Measures over a link of each round trip, and first over one without delay.
   *
   * @param channel tcp or tls
   * @param client the folder of the client's libraries
   * @param connections the data connections of a session
   */
  Results measure(
      LinkBench bench, PrivateServer server, String channel, Path client, int connections)
      throws IOException, InterruptedException {
    Set<RoundTrip> all = new LinkedHashSet<>(List.of(RoundTrip.NONE));
    all.addAll(roundTrips);
    List<LinkBench.Link> links = new ArrayList<>();
    List<Relay> relays = new ArrayList<>();
    try {
      for (RoundTrip roundTrip : all) {
        Relay relay = Relay.before(server.endpoint(), roundTrip, Optional.ofNullable(rate));
        relays.add(relay);
        ProgramEnvironment near = server.environment(channel, client);
        links.add(
            new LinkBench.Link(
                roundTrip,
                new ProgramEnvironment("rtt " + roundTrip, near.environment())
                    .with("GRAFT_DATA_CONNECTIONS", Integer.toString(connections))
                    .with("GRAFT_SERVER", relay.url())));
      }
      return bench.measure(links);
    } finally {
      for (Relay relay : relays) {
        relay.close();
      }
    }
  }
}

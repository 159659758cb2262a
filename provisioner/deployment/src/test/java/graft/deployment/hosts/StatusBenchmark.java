package graft.deployment.hosts;

import graft.common.values.Name;
import graft.deployment.descriptor.DescriptorFile;
import graft.deployment.descriptor.DescriptorReader;
import graft.deployment.hosts.HostReply.Outcome;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/**
 * Measures the status of many hosts that are modelled: each answers after some round trips of 20 ms
 * and the time that a host's Graft takes. No ssh runs, whose processes need time of this machine's
 * CPUs.
 *
 * <pre>
 *   StatusBenchmark HOSTS
 * </pre>
 */
public final class StatusBenchmark {
  private static final int ROUND_TRIP_MS = 20;

  private StatusBenchmark() {}

  public static void main(String[] args) throws Exception {
    int hosts = Integer.parseInt(args[0]);
    measure(hosts, 1, 0);
    // TCP, the exchange of versions and keys, the user's key, the session and the program.
    measure(hosts, 8, 400);
  }

  private static void measure(int hosts, int roundTrips, int graft) throws Exception {
    StringBuilder text = new StringBuilder("graft: 1\nname: lab\nhosts:\n");
    for (int h = 0; h < hosts; h++) {
      text.append("- {name: h%d, ssh: root@h%d.example}\n".formatted(h, h));
    }
    text.append("gpus:\n");
    for (int h = 0; h < hosts; h++) {
      text.append("- {name: gpu%d, host: h%d}\n".formatted(h, h));
    }
    DescriptorFile file = DescriptorReader.read(Path.of("/d/lab.yaml"), text.toString());
    ManyHosts many =
        new ManyHosts(
            new Name("lab"),
            Optional.of(file),
            host -> (request, progress) -> answer(host.name(), roundTrips * ROUND_TRIP_MS + graft),
            (host, line) -> {});
    long start = System.nanoTime();
    List<HostReply> replies = many.status();
    System.out.printf(
        Locale.ROOT,
        "status of %d hosts, %d round trips of 20 ms and %d ms of the host's Graft: %.2f s%n",
        replies.size(),
        roundTrips,
        graft,
        (System.nanoTime() - start) / 1e9);
  }

  private static HostReply answer(Name host, int millis) {
    try {
      Thread.sleep(millis);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
    return new HostReply(host, Outcome.DONE, 0, Map.of("inSync", true), "", Duration.ZERO);
  }
}

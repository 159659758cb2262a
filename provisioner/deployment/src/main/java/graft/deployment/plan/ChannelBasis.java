package graft.deployment.plan;

import graft.deployment.step.Step;
import graft.deployment.step.device.AttachDevice;
import graft.deployment.step.guest.BringsPayload;
import graft.deployment.step.guest.MakeRegion;
import graft.deployment.step.machine.AttachToDomain;
import graft.guests.payload.Payload;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * What a guest's channels depend on, by its steps. Measurements are valid as long as it is
 * unchanged.
 */
public final class ChannelBasis {
  private static final String SERVER = "server =";
  private static final String RDMA = "rdma";

  private ChannelBasis() {}

  /**
   * The basis, a line for each thing, in a fixed order.
   *
   * @param chain the guest's steps, as they are planned or as they were done
   */
  public static List<String> of(List<Step> chain) {
    List<String> basis = new ArrayList<>(addresses(chain));
    configuration(chain).filter(line -> line.startsWith("rdma-ports")).forEach(basis::add);
    boolean rdma = basis.stream().anyMatch(line -> line.startsWith(RDMA));
    for (Step step : chain) {
      if (step instanceof MakeRegion region) {
        basis.add("a region of " + region.size());
      } else if (rdma && step instanceof AttachDevice attach) {
        basis.add("the device " + attach.device());
      } else if (rdma && step instanceof AttachToDomain attach && attach.memory().isEmpty()) {
        basis.add("the device " + attach.device());
      }
    }
    return basis.stream().sorted().toList();
  }

  /**
   * The channels' addresses in the configuration of Graft's client; none if the guest has no
   * client.
   */
  static List<String> addresses(List<Step> chain) {
    return configuration(chain)
        .filter(line -> line.startsWith(SERVER))
        .flatMap(line -> Stream.of(line.substring(SERVER.length()).strip().split("[,; ]+")))
        .toList();
  }

  /** Whether the client has the addresses of several servers. */
  static boolean isOfSeveralServers(List<Step> chain) {
    return configuration(chain).anyMatch(line -> line.startsWith(SERVER) && line.contains(";"));
  }

  /**
   * The payload that was installed last: the agent may have installed another one than the seed.
   */
  private static Stream<String> configuration(List<Step> chain) {
    return chain.stream()
        .filter(BringsPayload.class::isInstance)
        .flatMap(step -> ((BringsPayload) step).payload().files().stream())
        .filter(file -> file.path().equals(Payload.CLIENT_CONFIGURATION))
        .flatMap(file -> file.text().stream())
        .reduce((earlier, later) -> later)
        .stream()
        .flatMap(String::lines);
  }

  /** Describes what changed from one basis to another. */
  static String changes(List<String> then, List<String> now) {
    List<String> changes = new ArrayList<>();
    then.stream().filter(one -> !now.contains(one)).forEach(one -> changes.add("no more " + one));
    now.stream().filter(one -> !then.contains(one)).forEach(one -> changes.add("new: " + one));
    return String.join(", ", changes);
  }
}

package graft.deployment.plan;

import graft.deployment.state.ChannelMeasurement;
import graft.deployment.step.Step;
import graft.deployment.step.guest.AwaitGuest;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The order in which a guest's client tries its channels, and why.
 *
 * @param order the channels' addresses
 * @param usual the same addresses in the order without measurements
 * @param by what decided on the order
 * @param reason the same as a sentence
 * @param measured the last measurement, valid or outdated
 */
public record ChannelChoice(
    String guest,
    List<String> order,
    List<String> usual,
    By by,
    String reason,
    Optional<ChannelMeasurement> measured) {

  /** What decides on the order. It is the usual one except with the last constant. */
  public enum By {
    ONLY_CHANNEL,
    SEVERAL_SERVERS,
    NOT_AWAITED,
    NOT_MEASURED,
    OUT_OF_DATE,
    MEASURED
  }

  /**
   * The choice for a guest; empty if it has no client of Graft.
   *
   * @param chain the guest's steps, as they are planned or as they were done
   */
  public static Optional<ChannelChoice> of(
      String deployment, String guest, List<Step> chain, Optional<ChannelMeasurement> measured) {
    List<String> usual = ChannelBasis.addresses(chain);
    if (usual.isEmpty()) {
      return Optional.empty();
    }
    List<String> basis = ChannelBasis.of(chain);
    By by =
        ChannelBasis.isOfSeveralServers(chain)
            ? By.SEVERAL_SERVERS
            : by(usual, basis, chain, measured);
    String when = measured.map(found -> found.when().toString()).orElse("");
    String command = "graft verify --channels " + deployment + " " + guest;
    List<String> order =
        by == By.MEASURED ? FastestFirst.order(usual, measured.orElseThrow().channels()) : usual;
    String reason =
        switch (by) {
          case ONLY_CHANNEL -> "it has no other channel";
          case SEVERAL_SERVERS ->
              "the usual order: its GPUs are of several servers, each with its own channels";
          case NOT_AWAITED ->
              "the usual order: graft does not wait for the guest (ready: {when: off})";
          case NOT_MEASURED -> "the usual order; " + command + " measures them";
          case OUT_OF_DATE ->
              "the usual order: what was measured at "
                  + when
                  + " is out of date ("
                  + ChannelBasis.changes(measured.orElseThrow().basis(), basis)
                  + "); "
                  + command
                  + " measures again";
          case MEASURED ->
              (order.equals(usual) ? "the usual order, as none is faster" : "the fastest first")
                  + " by the time of "
                  + ChannelMeasurement.Speed.OF
                  + ", measured at "
                  + when;
        };
    return Optional.of(new ChannelChoice(guest, order, usual, by, reason, measured));
  }

  /** The choice for a guest of a plan, by its steps there. */
  static Optional<ChannelChoice> of(PlanInput input, String guest, List<Step> chain) {
    return of(
        input.descriptor().deploymentName().text(),
        guest,
        chain,
        Optional.ofNullable(input.snapshot().channels().get(guest)));
  }

  private static By by(
      List<String> usual,
      List<String> basis,
      List<Step> chain,
      Optional<ChannelMeasurement> measured) {
    if (usual.stream().map(ChannelChoice::channel).distinct().count() == 1) {
      return By.ONLY_CHANNEL;
    } else if (chain.stream().noneMatch(AwaitGuest.class::isInstance)) {
      return By.NOT_AWAITED;
    } else if (measured.isEmpty()) {
      return By.NOT_MEASURED;
    }
    return measured.get().basis().equals(basis) ? By.MEASURED : By.OUT_OF_DATE;
  }

  /** The channel of an address: {@code ivshmem} of {@code ivshmem+vsock://2:8692}. */
  public static String channel(String address) {
    return address.replaceFirst("(\\+vsock)?://.*", "");
  }

  /**
   * Whether the configuration of a client with this order has to change. A configuration with other
   * addresses was not written by Graft, and is left alone.
   */
  public boolean differsFrom(List<String> there) {
    return !order.equals(there) && Set.copyOf(order).equals(Set.copyOf(there));
  }

  /** As a sentence, with the figures. */
  @Override
  public String toString() {
    Map<String, ChannelMeasurement.Figures> figures = new LinkedHashMap<>();
    measured
        .filter(found -> by != By.OUT_OF_DATE)
        .ifPresent(found -> found.channels().forEach(one -> figures.put(one.address(), one)));
    return "channels of "
        + guest
        + ": "
        + order.stream()
            .map(address -> figures.containsKey(address) ? "" + figures.get(address) : address)
            .collect(Collectors.joining(", "))
        + "; "
        + reason;
  }

  /** As a tree for JSON. */
  public Map<String, Object> toTree() {
    Map<String, Object> tree = new LinkedHashMap<>();
    tree.put("guest", guest);
    tree.put("order", order);
    tree.put("usual", usual);
    tree.put("by", by.name().toLowerCase(Locale.ROOT).replace('_', ' '));
    tree.put("reason", reason);
    measured.ifPresent(found -> tree.put("measured", found.toTree()));
    return tree;
  }
}

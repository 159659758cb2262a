package graft.sriov;

import graft.common.values.MacAddress;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/**
 * The settings that a PF keeps for one VF. An empty setting means unknown in a result, and
 * unchanged in a request.
 *
 * @param nodeGuid the GUID of the VF's InfiniBand node
 * @param portGuid the GUID of the VF's port, by which the subnet manager identifies the VF
 * @param policy the link state of the VF's port
 * @param mac the VF's Ethernet address
 * @param trust whether the VF may change its address and use promiscuous mode; Ethernet only
 * @param rate the VF's transmit rate; Ethernet only
 */
public record VfSettings(
    Optional<Guid> nodeGuid,
    Optional<Guid> portGuid,
    Optional<VfPolicy> policy,
    Optional<MacAddress> mac,
    Optional<Boolean> trust,
    Optional<VfRate> rate) {

  /** No setting is requested, or none is known. */
  public static final VfSettings NONE =
      new VfSettings(
          Optional.empty(),
          Optional.empty(),
          Optional.empty(),
          Optional.empty(),
          Optional.empty(),
          Optional.empty());

  public VfSettings withGuids(Guid node, Guid port) {
    return new VfSettings(Optional.of(node), Optional.of(port), policy, mac, trust, rate);
  }

  public VfSettings withNodeGuid(Guid node) {
    return new VfSettings(Optional.of(node), portGuid, policy, mac, trust, rate);
  }

  public VfSettings withPortGuid(Guid port) {
    return new VfSettings(nodeGuid, Optional.of(port), policy, mac, trust, rate);
  }

  public VfSettings withPolicy(VfPolicy wanted) {
    return new VfSettings(nodeGuid, portGuid, Optional.of(wanted), mac, trust, rate);
  }

  public VfSettings withMac(MacAddress wanted) {
    return new VfSettings(nodeGuid, portGuid, policy, Optional.of(wanted), trust, rate);
  }

  public VfSettings withTrust(boolean wanted) {
    return new VfSettings(nodeGuid, portGuid, policy, mac, Optional.of(wanted), rate);
  }

  public VfSettings withRate(VfRate wanted) {
    return new VfSettings(nodeGuid, portGuid, policy, mac, trust, Optional.of(wanted));
  }

  public boolean isEmpty() {
    return equals(NONE);
  }

  /** Whether a setting is present that only an InfiniBand VF has. */
  public boolean hasGuids() {
    return nodeGuid.isPresent() || portGuid.isPresent();
  }

  /**
   * Whether a setting is present that the VF's driver reads only when it is bound to the VF: the
   * address, in either kind of network.
   */
  public boolean hasAddress() {
    return hasGuids() || mac.isPresent();
  }

  /** Whether a setting is present that only a VF of an Ethernet port has. */
  public boolean hasEthernet() {
    return mac.isPresent() || trust.isPresent() || rate.isPresent();
  }

  /**
   * The settings that differ from {@code present}; a setting that is unknown there counts as
   * different.
   */
  public VfSettings notIn(VfSettings present) {
    return new VfSettings(
        differing(nodeGuid, present.nodeGuid),
        differing(portGuid, present.portGuid),
        differing(policy, present.policy),
        differing(mac, present.mac),
        differing(trust, present.trust),
        differing(rate, present.rate));
  }

  /** A copy of these settings in which {@code other} provides the empty ones. */
  public VfSettings or(VfSettings other) {
    return new VfSettings(
        nodeGuid.or(() -> other.nodeGuid),
        portGuid.or(() -> other.portGuid),
        policy.or(() -> other.policy),
        mac.or(() -> other.mac),
        trust.or(() -> other.trust),
        rate.or(() -> other.rate));
  }

  private static <T> Optional<T> differing(Optional<T> wanted, Optional<T> present) {
    return wanted.filter(value -> !Objects.equals(value, present.orElse(null)));
  }

  /** The settings that are present, as text by name, for a journal. */
  public Map<String, String> toMap() {
    Map<String, String> map = new LinkedHashMap<>();
    nodeGuid.ifPresent(value -> map.put("node", value.toString()));
    portGuid.ifPresent(value -> map.put("port", value.toString()));
    policy.ifPresent(value -> map.put("policy", value.name()));
    mac.ifPresent(value -> map.put("mac", value.toString()));
    trust.ifPresent(value -> map.put("trust", value.toString()));
    rate.ifPresent(value -> map.put("rate", value.minimum() + "-" + value.maximum()));
    return map;
  }

  /** Reads the result of {@link #toMap}. */
  public static VfSettings fromMap(Map<String, String> map) {
    return new VfSettings(
        Optional.ofNullable(map.get("node")).map(Guid::parse),
        Optional.ofNullable(map.get("port")).map(Guid::parse),
        Optional.ofNullable(map.get("policy")).map(VfPolicy::valueOf),
        Optional.ofNullable(map.get("mac")).map(MacAddress::parse),
        Optional.ofNullable(map.get("trust")).map(Boolean::valueOf),
        Optional.ofNullable(map.get("rate")).map(VfSettings::parseRate));
  }

  private static VfRate parseRate(String text) {
    int dash = text.indexOf('-');
    return new VfRate(
        Integer.parseInt(text.substring(0, dash)), Integer.parseInt(text.substring(dash + 1)));
  }

  /** {@code node 0c:42:..., port 0c:42:..., policy Follow}. */
  @Override
  public String toString() {
    StringBuilder text = new StringBuilder();
    nodeGuid.ifPresent(value -> add(text, "node GUID " + value));
    portGuid.ifPresent(value -> add(text, "port GUID " + value));
    policy.ifPresent(value -> add(text, "link " + value.text()));
    mac.ifPresent(value -> add(text, "MAC " + value));
    trust.ifPresent(value -> add(text, value ? "trusted" : "not trusted"));
    rate.ifPresent(
        value -> add(text, "rate " + value.minimum() + " to " + value.maximum() + " Mbit/s"));
    return text.isEmpty() ? "nothing" : text.toString();
  }

  private static void add(StringBuilder text, String part) {
    text.append(text.isEmpty() ? "" : ", ").append(part);
  }
}

package graft.deployment.step.host;

import graft.deployment.observe.NetworkFacts;
import graft.deployment.observe.Snapshot;
import graft.deployment.step.Chain;
import graft.deployment.step.Step;
import graft.deployment.step.StepContext;
import graft.hypervisors.libvirt.Network;
import graft.hypervisors.libvirt.Networks;
import java.util.Map;

/** Starts a libvirt network that is not active. */
public record StartNetwork(String uri, String network) implements Step {
  @Override
  public Chain chain() {
    return Chain.network(network);
  }

  @Override
  public String name() {
    return "start";
  }

  @Override
  public String describe() {
    return "start it";
  }

  @Override
  public boolean isDone(Snapshot snapshot) {
    return snapshot.libvirt().network(network).map(NetworkFacts::active).orElse(false);
  }

  @Override
  public Map<String, Object> apply(StepContext context) {
    Networks networks = context.libvirt(uri).networks();
    if (!networks.find(network).map(Network::active).orElse(false)) {
      networks.start(network);
    }
    return Map.of();
  }

  @Override
  public void undo(StepContext context, Map<String, Object> before) {
    Networks networks = context.libvirt(uri).networks();
    if (networks.find(network).map(Network::active).orElse(false)) {
      networks.destroy(network);
    }
  }
}

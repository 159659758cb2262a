package graft.deployment.step.host;

import graft.deployment.observe.Snapshot;
import graft.deployment.step.Chain;
import graft.deployment.step.Step;
import graft.deployment.step.StepContext;
import graft.hypervisors.libvirt.Networks;
import graft.hypervisors.libvirt.domain.Xml;
import java.util.Map;

/** Defines a libvirt network of the descriptor. */
public record DefineNetwork(String uri, String network, String summary, String xml)
    implements Step {
  @Override
  public Chain chain() {
    return Chain.network(network);
  }

  @Override
  public String name() {
    return "define";
  }

  @Override
  public String describe() {
    return "define it in libvirt (" + summary + ")";
  }

  @Override
  public boolean isDone(Snapshot snapshot) {
    return snapshot.libvirt().network(network).isPresent();
  }

  @Override
  public Map<String, Object> apply(StepContext context) {
    context.libvirt(uri).networks().define(Xml.parse(xml));
    return Map.of();
  }

  @Override
  public void undo(StepContext context, Map<String, Object> before) {
    Networks networks = context.libvirt(uri).networks();
    if (networks.find(network).isPresent()) {
      networks.destroy(network);
      networks.undefine(network);
    }
  }
}

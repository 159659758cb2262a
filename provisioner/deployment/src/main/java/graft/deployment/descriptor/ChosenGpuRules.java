package graft.deployment.descriptor;

import graft.common.bind.Positions;
import graft.common.bind.Problems;
import graft.common.values.Name;
import graft.deployment.descriptor.guest.VGpu;
import java.util.Collection;

/** Rules of vGPUs whose GPU plan chooses. */
final class ChosenGpuRules {
  private final Descriptor descriptor;
  private final Positions positions;
  private final Problems problems;

  ChosenGpuRules(Descriptor descriptor, Positions positions, Problems problems) {
    this.descriptor = descriptor;
    this.positions = positions;
    this.problems = problems;
  }

  void check(VGpu vgpu) {
    if (vgpu.isAny()) {
      node(vgpu);
      chip(vgpu);
    } else {
      alone(vgpu, "chip", vgpu.chip().isPresent());
      alone(vgpu, "node", vgpu.node().isPresent());
    }
  }

  private void alone(VGpu vgpu, String key, boolean isGiven) {
    if (isGiven) {
      problems.add(
          positions.of(vgpu, key),
          "'" + key + "' says which GPU may be chosen, and the GPU is named",
          "leave it out, or write gpu: any");
    }
  }

  private void node(VGpu vgpu) {
    if (vgpu.node().isPresent() && !vgpu.node().get().equals(VGpu.HOST)) {
      Collection<String> known = DescriptorRules.names(descriptor.nodes(), Node::name);
      known.add(VGpu.HOST.text());
      Name wanted = vgpu.node().get();
      DescriptorRules.reference(positions.of(vgpu, "node"), "node", wanted, known, problems);
    }
  }

  private void chip(VGpu vgpu) {
    if (vgpu.chip().filter(String::isBlank).isPresent()) {
      problems.add(positions.of(vgpu, "chip"), "the chip's name is empty", "such as H100");
    }
  }
}

package graft.deployment.doctor;

import graft.common.json.Json;
import graft.common.values.MemorySize;
import graft.common.values.Name;
import graft.deployment.descriptor.gpu.GpuDevice;

/**
 * A small descriptor to begin with: guests of one image that share one GPU of this host.
 *
 * @param gpu the device that the host serves
 * @param guests how many guests, at least 1
 * @param image the guests' image: a name such as {@code debian:12}, or a file
 * @param memory of each guest
 * @param cpus of each guest
 */
public record FirstDescriptor(
    Name name, GpuDevice gpu, int guests, String image, MemorySize memory, int cpus) {

  /** The descriptor as YAML. Whether it is valid is for the reader of descriptors to say. */
  public String text() {
    StringBuilder text = new StringBuilder();
    text.append("# Written by graft init. graft plan shows what graft apply would do;\n");
    text.append("# docs/descriptor.md describes every key.\n");
    text.append("graft: 1\nname: ").append(quoted(name.text())).append("\n\ngpus:\n");
    text.append("  - name: gpu0\n    owner: host\n    device: ").append(quoted(gpu.toString()));
    text.append(
        gpu.kind() == GpuDevice.Kind.SOFTWARE
            ? " # no GPU: programs run on this host's CPU\n"
            : "\n");
    text.append("\nguests:\n");
    for (int number = 1; number <= guests; number++) {
      text.append("  - name: guest-").append(number).append('\n');
      text.append("    image: ").append(quoted(image)).append('\n');
      text.append("    cpus: ").append(cpus).append('\n');
      text.append("    memory: ").append(memory).append('\n');
      text.append("    networks: [user] # QEMU's own network, which needs no privileges\n");
      text.append("    vgpu: gpu0\n");
    }
    return text.toString();
  }

  /** Plain where YAML cannot mistake it; else in double quotes, as YAML and JSON share them. */
  private static String quoted(String value) {
    return value.matches("[a-z/][A-Za-z0-9_./-]*")
            && !value.matches("null|true|false|yes|no|on|off")
        ? value
        : Json.line(value);
  }
}

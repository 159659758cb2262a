package graft.deployment.fabric;

import graft.common.values.MacAddress;
import graft.common.values.PciAddress;
import graft.sriov.Guid;
import graft.sriov.VfPolicy;
import graft.sriov.VfRate;
import graft.sriov.VfSettings;
import graft.sriov.fake.FakeDevice;
import graft.sriov.operation.BindDriver;
import graft.sriov.operation.ConfigureVf;
import graft.sriov.operation.SetAutoprobe;
import graft.sriov.operation.SetVfCount;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;

/** A host, in some state, and a descriptor that fits it, all decided by one number. */
final class RandomDeployment {
  final DeviceHost host;
  final String descriptor;
  private final Random random;
  private final StringBuilder adapters = new StringBuilder();
  private final StringBuilder gpus = new StringBuilder();
  private final List<StringBuilder> functions = new ArrayList<>();
  private final List<StringBuilder> devices = new ArrayList<>();

  RandomDeployment(Path folder, long seed) {
    random = new Random(seed);
    host = new DeviceHost(folder);
    host.fake.loadDriver("pci-stub").node(0, "0-7", 65536).node(1, "8-15", 65536);
    int guests = 1 + random.nextInt(3);
    for (int i = 0; i < guests; i++) {
      functions.add(new StringBuilder());
      devices.add(new StringBuilder());
    }
    int pfs = 1 + random.nextInt(2);
    for (int i = 0; i < pfs; i++) {
      adapter(i, String.format("0000:%02x:00.%d", 0x3b + i, random.nextInt(2)));
    }
    int slots = random.nextInt(3);
    for (int i = 0; i < slots; i++) {
      gpu(i, String.format("0000:%02x:00", 0x60 + i), 20 + i);
    }
    mediated();
    if (random.nextInt(3) == 0) {
      host.gpuFunction("71", random.nextBoolean() ? "0" : "558");
      device(random.nextInt(devices.size()), "pci: \"0000:71:00.1\", type: \"557\"");
    }
    host.fake.takeLog();
    descriptor = write();
  }

  private void adapter(int number, String address) {
    int total = 2 + random.nextInt(4);
    FakeDevice pf = FakeDevice.mlx5(address, total).numa(random.nextInt(2));
    boolean ethernet = random.nextInt(4) == 0;
    if (ethernet) {
      pf.ethernet();
    }
    if (random.nextBoolean()) {
      pf.ofed();
    }
    host.fake.add(pf);
    PciAddress at = PciAddress.parse(address);
    before(at, random.nextInt(3) == 0 ? 0 : random.nextInt(total + 1), ethernet);

    int count = random.nextInt(5) == 0 ? 0 : 1 + random.nextInt(total);
    adapters.append("    - name: ib").append(number).append('\n');
    adapters.append("      device: \"").append(address).append("\"\n");
    adapters.append("      vfs: ").append(count).append('\n');
    if (random.nextBoolean()) {
      adapters.append("      policy: up\n");
    }
    if (!ethernet && random.nextBoolean()) {
      adapters
          .append("      guid-base: \"02:00:00:00:00:00:00:0")
          .append(number + 1)
          .append("\"\n");
    }
    ownSettings(number, count, ethernet);
    for (int i = 0; i < count; i++) {
      if (random.nextInt(3) == 0) {
        StringBuilder guest = functions.get(random.nextInt(functions.size()));
        guest.append(guest.isEmpty() ? "" : ", ").append("{adapter: ib").append(number);
        guest.append(random.nextBoolean() ? ", index: " + i : "").append("}");
      }
    }
  }

  /** Functions that are there already, with settings and drivers of their own. */
  private void before(PciAddress pf, int present, boolean ethernet) {
    new SetAutoprobe(pf, false).apply(host.access);
    new SetVfCount(pf, present).apply(host.access);
    for (int i = 0; i < present; i++) {
      new ConfigureVf(pf, i, settings(ethernet), VfSettings.NONE).apply(host.access);
      if (random.nextInt(3) > 0) {
        BindDriver.to(pf.plus(1 + i), "mlx5_core").apply(host.access);
      }
      if (random.nextInt(6) == 0) {
        BindDriver.toNothing(pf.plus(1 + i), Optional.of("pci-stub")).apply(host.access);
      }
    }
    new SetAutoprobe(pf, random.nextInt(4) > 0).apply(host.access);
  }

  private VfSettings settings(boolean ethernet) {
    VfSettings some = VfSettings.NONE.withPolicy(VfPolicy.values()[random.nextInt(3)]);
    long unique = random.nextInt() & 0xffffffffL;
    if (ethernet) {
      return some.withMac(new MacAddress(0x0200_0000_0000L | unique))
          .withTrust(random.nextBoolean())
          .withRate(new VfRate(0, 1000));
    }
    Guid guid = new Guid(0x0600_0000_0000_0000L | unique);
    return some.withGuids(guid, guid);
  }

  private void ownSettings(int number, int count, boolean ethernet) {
    StringBuilder own = new StringBuilder();
    for (int i = 0; i < count; i++) {
      if (random.nextInt(3) == 0) {
        own.append("        - {index: ").append(i);
        if (ethernet) {
          if (random.nextBoolean()) {
            own.append(String.format(", mac: \"0a:00:00:00:%02x:%02x\"", number, i));
          }
          own.append(", trust: ").append(random.nextBoolean());
          own.append(", max-rate: ").append(1 + random.nextInt(9999));
        } else {
          own.append(String.format(", node-guid: \"0a:00:00:00:%02x:00:00:%02x\"", number, i));
          own.append(String.format(", port-guid: \"0a:00:00:00:%02x:01:00:%02x\"", number, i));
          own.append(", policy: ").append(random.nextBoolean() ? "down" : "auto");
        }
        own.append("}\n");
      }
    }
    if (!own.isEmpty()) {
      adapters.append("      virtual-functions:\n").append(own);
    }
  }

  private void gpu(int number, String slot, int group) {
    host.fake.add(FakeDevice.gpu(slot + ".0").group(group).numa(number % 2));
    host.fake.add(
        FakeDevice.at(slot + ".1")
            .ids(0x10de, 0x10f0)
            .pciClass(0x040300)
            .group(group)
            .numa(number % 2)
            .driver(random.nextBoolean() ? "snd_hda_intel" : null));
    int guest = random.nextInt(devices.size());
    switch (random.nextInt(3)) {
      case 0 ->
          gpus.append("  - {name: gpu")
              .append(number)
              .append(", owner: \"guest:g")
              .append(guest)
              .append("\", device: \"")
              .append(slot)
              .append(".0\"}\n");
      case 1 -> device(guest, "pci: \"" + slot + ".0\"");
      default -> {}
    }
  }

  private void mediated() {
    host.fake.add(FakeDevice.gpu("0000:70:00.0").numa(1));
    String type = "/sys/bus/pci/devices/0000:70:00.0/mdev_supported_types/nvidia-474/";
    host.fake.file(type + "available_instances", "4").file(type + "create", "");
    for (int i = 0; i < 2; i++) {
      if (random.nextBoolean()) {
        device(
            random.nextInt(devices.size()),
            "mdev: 6f4f4f4f-0000-0000-0000-00000000000"
                + i
                + ", of: \"0000:70:00.0\", type: nvidia-474");
      }
    }
  }

  private void device(int guest, String text) {
    StringBuilder all = devices.get(guest);
    all.append(all.isEmpty() ? "" : ", ").append("{").append(text).append("}");
  }

  private String write() {
    StringBuilder text = new StringBuilder("graft: 1\nname: lab\n");
    text.append("fabric:\n  persistent: false\n  adapters:\n").append(adapters);
    if (!gpus.isEmpty()) {
      text.append("gpus:\n").append(gpus);
    }
    text.append("guests:\n");
    for (int i = 0; i < devices.size(); i++) {
      text.append("  - name: g").append(i).append("\n    image: debian.qcow2\n    setup: none\n");
      text.append("    memory: 256MiB\n");
      text.append("    passthrough: [").append(devices.get(i)).append("]\n");
      text.append("    vfs: [").append(functions.get(i)).append("]\n");
      if (random.nextInt(3) == 0) {
        text.append("    placement: {huge-pages: 2MiB}\n");
      }
    }
    return text.toString();
  }
}

package graft.comparison.site;

import graft.common.program.HostProgram;
import graft.deployment.gpu.CudaDevice;
import graft.deployment.gpu.CudaDriver;
import graft.deployment.observe.HostObserver;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Facts about this machine that are needed to repeat a comparison. */
public final class MachineFacts {
  private static final Duration PROMPT = Duration.ofSeconds(10);

  private MachineFacts() {}

  /** The facts by name; those that cannot be determined are left out. */
  public static Map<String, String> read(String device, String version) {
    Map<String, String> facts = new TreeMap<>();
    if (device.equals("software")) {
      facts.put("device", "Graft's software device");
    } else {
      gpu(facts);
    }
    facts.put("device of the suite", device);
    facts.put("graft", version);
    facts.put("kernel", first(Path.of("/proc/sys/kernel/osrelease"), ""));
    facts.put(
        "operating system", value(Path.of("/etc/os-release"), "PRETTY_NAME=").replace("\"", ""));
    String model = value(Path.of("/proc/cpuinfo"), "model name");
    int processors = Runtime.getRuntime().availableProcessors();
    facts.put(
        "host", processors + " × " + (model.isEmpty() ? System.getProperty("os.arch") : model));
    facts.put("processors", Integer.toString(processors));
    facts.put("memory", value(Path.of("/proc/meminfo"), "MemTotal"));
    facts.put("hypervisor below", hypervisor());
    facts.put(
        "governor", first(Path.of("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"), ""));
    facts.put("qemu", said(List.of("qemu-system-x86_64", "--version")));
    facts.put("libvirt", said(List.of("libvirtd", "--version")));
    facts.values().removeIf(String::isBlank);
    return facts;
  }

  /** Adds the facts of the first GPU. */
  private static void gpu(Map<String, String> facts) {
    CudaDriver cuda = CudaDriver.ask(System.getenv());
    if (cuda.devices().isEmpty()) {
      facts.put("device", ("a GPU that CUDA does not show: " + cuda.problem()).strip());
      return;
    }
    CudaDevice first = cuda.devices().get(0);
    facts.put(
        "device",
        first.describe()
            + ", driver "
            + HostObserver.observe().nvidiaDriver()
            + ", CUDA "
            + cuda.version()
            + ", at most "
            + first.megahertz()
            + " MHz");
    facts.put("device's link", first.link().orElse(""));
    facts.put("pageable memory", first.pageableNote().orElse(""));
  }

  private static String hypervisor() {
    boolean virtual = !value(Path.of("/proc/cpuinfo"), "flags").matches("(?s).*\\bhypervisor\\b.*");
    String maker = first(Path.of("/sys/class/dmi/id/sys_vendor"), "");
    String product = first(Path.of("/sys/class/dmi/id/product_name"), "");
    String name = (maker + " " + product).strip();
    return virtual ? "none seen; " + name : "this machine is a guest itself; " + name;
  }

  private static String first(Path file, String otherwise) {
    try {
      return Files.isReadable(file) ? Files.readString(file).strip() : otherwise;
    } catch (IOException e) {
      return otherwise;
    }
  }

  /** The text after a word at the beginning of a line, without separators. */
  private static String value(Path file, String word) {
    return first(file, "")
        .lines()
        .filter(line -> line.startsWith(word))
        .map(line -> line.substring(word.length()).replaceFirst("^[\\s:]+", ""))
        .findFirst()
        .orElse("");
  }

  /** The first line that a program prints; empty if it cannot be run. */
  private static String said(List<String> command) {
    try {
      return HostProgram.of(command.get(0), command.subList(1, command.size()))
          .output(PROMPT)
          .lines()
          .findFirst()
          .orElse("");
    } catch (IOException e) {
      return "";
    }
  }
}

package graft.remoting.server.pool;

import graft.remoting.server.health.GpuState;
import graft.remoting.server.health.Slowdown;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;

/** The health of the server's GPUs, as metrics; none for a server without GPUs. */
final class GpuMetrics {
  private GpuMetrics() {}

  static void write(MetricsPage page, List<GpuState> gpus) {
    if (gpus.isEmpty()) {
      return;
    }
    page.gauge("graft_gpu_healthy", "Whether a GPU takes new sessions.");
    gpus.forEach(gpu -> page.sample(labels(gpu), gpu.isHealthy() ? 1 : 0));
    page.counter("graft_gpu_xid_errors_total", "Xid errors since the server's start.");
    for (GpuState gpu : gpus) {
      gpu.xids().forEach((xid, count) -> page.sample(labels(gpu, "xid", xid.toString()), count));
    }
    page.counter(
        "graft_gpu_memory_errors_total", "Memory errors that ECC found since the driver's start.");
    for (GpuState gpu : gpus) {
      errors(page, gpu, "corrected", gpu.correctedErrors());
      errors(page, gpu, "uncorrected", gpu.uncorrectedErrors());
    }
    page.gauge("graft_gpu_slowed", "Whether a GPU's clocks are lowered for this reason.");
    for (GpuState gpu : gpus) {
      for (Slowdown slowdown : Slowdown.values()) {
        page.sample(
            labels(gpu, "reason", slowdown.toString()), gpu.slowed().contains(slowdown) ? 1 : 0);
      }
    }
  }

  private static void errors(MetricsPage page, GpuState gpu, String kind, OptionalLong count) {
    count.ifPresent(value -> page.sample(labels(gpu, "kind", kind), value));
  }

  /** The labels of dcgm-exporter, so that both can be joined. */
  private static Map<String, String> labels(GpuState gpu) {
    Map<String, String> labels = new LinkedHashMap<>();
    labels.put("gpu", Integer.toString(gpu.index()));
    labels.put("UUID", gpu.uuid());
    return labels;
  }

  private static Map<String, String> labels(GpuState gpu, String name, String value) {
    Map<String, String> labels = labels(gpu);
    labels.put(name, value);
    return labels;
  }
}

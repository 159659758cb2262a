package graft.deployment.step.device;

import graft.common.values.MemorySize;
import graft.deployment.observe.Snapshot;
import graft.deployment.step.Chain;
import graft.deployment.step.Step;
import graft.deployment.step.StepContext;
import graft.deployment.step.StepFailure;
import graft.sriov.files.Sysfs;
import graft.sriov.host.HugePages;
import graft.sriov.host.NumaNode;
import graft.sriov.vf.HostAccess;
import java.util.Map;

/**
 * Has huge pages on a NUMA node for the guests of a deployment: those that are free there, and as
 * many more as are missing.
 *
 * @param size of each, in bytes
 * @param pages how many the guests need together
 */
public record ReserveHugePages(int node, long size, int pages) implements Step {
  private static final String TOTAL = "total";
  private static final String FREE = "free";

  @Override
  public Chain chain() {
    return Chain.memory("node" + node + "-" + pageSize().toString().replace(" ", ""));
  }

  @Override
  public String name() {
    return "huge-pages";
  }

  @Override
  public String describe() {
    return "have " + pages + " huge pages of " + pageSize() + " on NUMA node " + node;
  }

  /** Those of guests that run are not free any more, but they are there. */
  @Override
  public boolean isDone(Snapshot snapshot) {
    return snapshot.devices().nodes().stream()
        .filter(found -> found.number() == node)
        .flatMap(found -> found.pages(pageSize()).stream())
        .map(HugePages::total)
        .anyMatch(total -> total >= pages);
  }

  @Override
  public boolean isInPlace() {
    return true;
  }

  @Override
  public Map<String, Object> before(StepContext context) {
    Sysfs files = context.host().files();
    return Map.of(TOTAL, read(files, "nr_hugepages"), FREE, read(files, "free_hugepages"));
  }

  @Override
  public Map<String, Object> apply(StepContext context) {
    long wanted = wanted(context.beforeOf(id()));
    HostAccess host = context.host();
    if (read(host.files(), "nr_hugepages") < wanted) {
      write(host, wanted);
      long now = read(host.files(), "nr_hugepages");
      if (now < wanted) {
        throw new StepFailure(
            "the kernel found memory for "
                + now
                + " of "
                + wanted
                + " huge pages of "
                + pageSize()
                + " on NUMA node "
                + node,
            "reserve them when the host boots (hugepagesz="
                + pageSize().bytes() / 1024
                + "K hugepages="
                + wanted
                + "), or take smaller ones");
      }
    }
    return Map.of();
  }

  /** What was there, and what was missing then. */
  private long wanted(Map<String, Object> first) {
    return number(first, TOTAL) + Math.max(0, pages - number(first, FREE));
  }

  /** Takes away what it added; others may have added some too. */
  @Override
  public void undo(StepContext context, Map<String, Object> before) {
    HostAccess host = context.host();
    if (before.isEmpty()) {
      return;
    }
    long now = read(host.files(), "nr_hugepages");
    long added = wanted(before) - number(before, TOTAL);
    long rest = Math.max(number(before, TOTAL), now - added);
    if (rest < now) {
      write(host, rest);
    }
  }

  private static long number(Map<String, Object> tree, String key) {
    return tree.get(key) instanceof Number value ? value.longValue() : 0;
  }

  private MemorySize pageSize() {
    return new MemorySize(size);
  }

  private long read(Sysfs files, String name) {
    return files
        .read(NumaNode.hugePageFolder(node, new MemorySize(size)) + "/" + name)
        .map(Long::parseLong)
        .orElseThrow(
            () ->
                new StepFailure(
                    "NUMA node " + node + " has no huge pages of " + new MemorySize(size),
                    "take a size that the host's CPU has"));
  }

  private void write(HostAccess host, long count) {
    // The kernel may have to move memory about for each page.
    host.files()
        .write(
            NumaNode.hugePageFolder(node, new MemorySize(size)) + "/nr_hugepages",
            Long.toString(count),
            host.limits().forVfs(Math.toIntExact(Math.min(count, 600))));
  }
}

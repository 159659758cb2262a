package graft.provisioner.step.host;

import graft.provisioner.observe.HostFacts.PageGrants;
import graft.provisioner.observe.Snapshot;
import graft.provisioner.step.Lane;
import graft.provisioner.step.Step;
import graft.provisioner.step.StepContext;
import graft.provisioner.step.StepFailure;
import graft.sriov.vf.HostAccess;
import java.util.Map;

/**
 * Lets the processes of a Xen host share more pages with guests than before: the kernel's limit is
 * one for all of them, 1024 pages at first (Linux, drivers/xen/gntalloc.c).
 *
 * <p>Taken back, the limit is what it was, unless it is higher than this step made it: then
 * somebody else has raised it since and counts on it, and it stays. A limit takes no memory.
 *
 * @param pages how many more
 */
public record RaiseGrantLimit(int pages) implements Step {
  /** Its {@link #id}. */
  public static final String ID = "module/xen_gntalloc/limit";

  /** What a session by vchan takes: two rings of 1 MiB and a page to control them. */
  private static final int PAGES_OF_A_SESSION = 513;

  /** Those that a guest may have open at a time, whatever the others do. */
  private static final int SESSIONS_OF_A_GUEST = 16;

  private static final String LIMIT = "limit";

  /** What guests need together. */
  public static int pagesOf(int guests) {
    return guests * SESSIONS_OF_A_GUEST * PAGES_OF_A_SESSION;
  }

  @Override
  public Lane lane() {
    return Lane.module("xen_gntalloc");
  }

  @Override
  public String name() {
    return LIMIT;
  }

  @Override
  public String describe() {
    return "let this host share " + pages + " pages more with guests, for vchan";
  }

  @Override
  public boolean isDone(Snapshot snapshot) {
    return snapshot.host().pageGrants().limit() >= pages;
  }

  @Override
  public boolean isInPlace() {
    return true;
  }

  @Override
  public Map<String, Object> before(StepContext context) {
    return Map.of(LIMIT, limit(context.host()));
  }

  @Override
  public Map<String, Object> apply(StepContext context) {
    long wanted = wanted(context);
    if (limit(context.host()) < wanted) {
      write(context.host(), wanted);
    }
    return Map.of();
  }

  private long first(StepContext context) {
    return context.beforeOf(id()).get(LIMIT) instanceof Number limit ? limit.longValue() : 0;
  }

  private long wanted(StepContext context) {
    return first(context) + pages;
  }

  @Override
  public void undo(StepContext context) {
    HostAccess host = context.host();
    if (context.beforeOf(id()).isEmpty() || !host.files().exists(PageGrants.LIMIT)) {
      return; // not begun, or the module is gone and its limit with it
    }
    long now = limit(host);
    if (now > first(context) && now <= wanted(context)) {
      write(host, first(context));
    }
  }

  private static long limit(HostAccess host) {
    return host.files()
        .read(PageGrants.LIMIT)
        .map(Long::parseLong)
        .orElseThrow(
            () ->
                new StepFailure(
                    "this host says nothing of how many pages it may share: there is no "
                        + PageGrants.LIMIT,
                    "modprobe xen-gntalloc, then apply again"));
  }

  private static void write(HostAccess host, long limit) {
    host.files().write(PageGrants.LIMIT, Long.toString(limit), host.limits().attribute());
  }
}

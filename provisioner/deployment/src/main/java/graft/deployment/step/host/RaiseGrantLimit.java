package graft.deployment.step.host;

import graft.common.disk.PrivateFiles;
import graft.common.disk.StateDisk;
import graft.deployment.observe.HostFacts.PageGrants;
import graft.deployment.observe.Snapshot;
import graft.deployment.step.Chain;
import graft.deployment.step.Step;
import graft.deployment.step.StepContext;
import graft.deployment.step.StepFailure;
import graft.sriov.vf.HostAccess;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.stream.LongStream;
import java.util.stream.Stream;

/**
 * Lets the processes of a Xen host share more pages with guests than before. The kernel's limit is
 * one for all of them, 1024 pages at first (Linux, drivers/xen/gntalloc.c), and takes no memory: it
 * becomes as many as a domain can grant at all where Xen is not told otherwise.
 *
 * <p>All deployments of the host need the same, so each notes what the limit was before the first
 * of them; undoing the last of them restores it.
 *
 * @param setup the name of the deployment that needs it
 * @param folder where the deployments note it, a file for each
 */
public record RaiseGrantLimit(String setup, Path folder) implements Step {
  /**
   * Xen's {@code gnttab_max_frames} is 64 by default, a frame has 512 grants. A session of vchan
   * takes 513: two rings of 1 MiB and a page to control them.
   */
  public static final long ENOUGH = 64 * 512;

  private static final String FOLDER = ".granted-pages";

  /** The folder of the notes, beside the state folders. */
  public static Path folder(Path root) {
    return root.resolve(FOLDER);
  }

  @Override
  public Chain chain() {
    return Chain.module("xen_gntalloc");
  }

  @Override
  public String name() {
    return "limit";
  }

  @Override
  public String describe() {
    return "let this host share up to " + ENOUGH + " pages with guests, for vchan";
  }

  @Override
  public boolean isDone(Snapshot snapshot) {
    return snapshot.host().pageGrants().limit() >= ENOUGH;
  }

  @Override
  public Map<String, Object> apply(StepContext context) throws IOException {
    StateDisk.get().makeFolders(folder);
    long first =
        LongStream.concat(LongStream.of(limit(context.host())), notes()).min().orElseThrow();
    PrivateFiles.write(note(), Long.toString(first).getBytes(StandardCharsets.UTF_8));
    raise(context.host());
    return Map.of();
  }

  @Override
  public void undo(StepContext context, Map<String, Object> before) throws IOException {
    if (!Files.exists(note())) {
      PrivateFiles.delete(note()); // a killed apply can leave an incomplete note
      return;
    }
    HostAccess host = context.host();
    long first = Long.parseLong(Files.readString(note()));
    // Somebody else may have set another limit since, or the module, and its limit with it, be
    // gone.
    if (notes().count() == 1 && host.files().exists(PageGrants.LIMIT) && limit(host) == ENOUGH) {
      write(host, first);
    }
    PrivateFiles.delete(note());
    if (notes().findAny().isPresent() && host.files().exists(PageGrants.LIMIT)) {
      raise(host); // for a deployment that was applied meanwhile
    }
  }

  private Path note() {
    return folder.resolve(setup);
  }

  /** The original limit, as each deployment that needs it noted it. */
  private LongStream notes() throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      LongStream.Builder all = LongStream.builder();
      for (Path file : files.filter(RaiseGrantLimit::isWhole).toList()) {
        all.add(Long.parseLong(Files.readString(file)));
      }
      return all.build();
    }
  }

  /** Names of deployments have no dot; names of incomplete files have one. */
  private static boolean isWhole(Path file) {
    return file.getFileName().toString().indexOf('.') < 0;
  }

  private static void raise(HostAccess host) {
    if (limit(host) < ENOUGH) {
      write(host, ENOUGH);
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

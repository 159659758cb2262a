package graft.deployment.step.device;

import graft.common.program.HostProgram;
import graft.deployment.observe.Snapshot;
import graft.deployment.step.Chain;
import graft.deployment.step.Step;
import graft.deployment.step.StepContext;
import graft.sriov.files.Sysfs;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Has systemd apply the deployment again whenever the host boots: what is set in sysfs is gone
 * then.
 *
 * @param unit the name of the service
 * @param text the whole unit file
 */
public record ApplyAtBoot(String unit, String text) implements Step {
  /** Where an administrator's units lie, before those of packages (systemd.unit(5)). */
  private static final String FOLDER = "/etc/systemd/system/";

  private static final String CONTENT = "content";

  @Override
  public Chain chain() {
    return Chain.boot();
  }

  @Override
  public String name() {
    return "unit";
  }

  @Override
  public String describe() {
    return "apply the deployment again at boot (" + FOLDER + unit + ")";
  }

  @Override
  public boolean isDone(Snapshot snapshot) {
    return snapshot.devices().boot().unit().equals(Optional.of(text.strip()));
  }

  @Override
  public Map<String, Object> before(StepContext context) {
    return context
        .host()
        .files()
        .read(FOLDER + unit)
        .map(found -> Map.<String, Object>of(CONTENT, found))
        .orElse(Map.of());
  }

  @Override
  public Map<String, Object> apply(StepContext context) throws IOException {
    Sysfs files = context.host().files();
    files.store(FOLDER + unit, text);
    files.storeLink(wanted(unit), FOLDER + unit);
    reload(files);
    return Map.of();
  }

  @Override
  public void undo(StepContext context, Map<String, Object> before) throws IOException {
    Sysfs files = context.host().files();
    files.remove(wanted(unit));
    Object content = before.get(CONTENT);
    if (content == null) {
      files.remove(FOLDER + unit);
    } else {
      files.store(FOLDER + unit, content + "\n");
    }
    reload(files);
  }

  /** The link that systemctl enable would make. */
  private static String wanted(String unit) {
    return FOLDER + "multi-user.target.wants/" + unit;
  }

  /** A systemd that runs knows of new units only when it is told; that it is told is no must. */
  private static void reload(Sysfs files) throws IOException {
    if (files.isThisHost() && files.exists("/run/systemd/system")) {
      HostProgram.of("systemctl", List.of("daemon-reload"))
          .run(
              Duration.ofSeconds(30),
              InputStream.nullInputStream(),
              OutputStream.nullOutputStream(),
              OutputStream.nullOutputStream());
    }
  }
}

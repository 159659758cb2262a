package graft.deployment.step.host;

import graft.common.disk.StateDisk;
import graft.deployment.observe.ServiceFacts;
import graft.deployment.observe.Snapshot;
import graft.deployment.step.Chain;
import graft.deployment.step.Step;
import graft.deployment.step.StepContext;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Writes a unit of systemd for the server of a GPU.
 *
 * @param unit its name
 * @param text the whole unit file
 * @param atBoot whether systemd starts it when the host boots
 */
public record MakeUnit(String gpu, String unit, String text, boolean atBoot) implements Step {
  private static final String CONTENT = "content";

  @Override
  public Chain chain() {
    return Chain.server(gpu);
  }

  @Override
  public String name() {
    return "unit-" + unit.substring(0, unit.indexOf('@'));
  }

  @Override
  public String describe() {
    return "write its service " + unit + (atBoot ? ", which the host starts at boot" : "");
  }

  @Override
  public boolean isDone(Snapshot snapshot) {
    return text.equals(snapshot.services().units().get(unit));
  }

  @Override
  public Map<String, Object> before(StepContext context) throws IOException {
    return Files.exists(file()) ? Map.of(CONTENT, Files.readString(file())) : Map.of();
  }

  @Override
  public Map<String, Object> apply(StepContext context) throws IOException {
    Files.writeString(file(), text);
    Files.deleteIfExists(wanted());
    if (atBoot) {
      Files.createDirectories(wanted().getParent());
      Files.createSymbolicLink(wanted(), file());
    }
    StateDisk.get().syncFolder(file().getParent());
    reload();
    return Map.of();
  }

  @Override
  public void undo(StepContext context, Map<String, Object> before) throws IOException {
    Files.deleteIfExists(wanted());
    Optional<Object> content = Optional.ofNullable(before.get(CONTENT));
    if (content.isPresent()) {
      Files.writeString(file(), content.get().toString());
    } else {
      Files.deleteIfExists(file());
    }
    reload();
  }

  private Path file() {
    return ServiceFacts.UNITS.resolve(unit);
  }

  /** The link that systemctl enable would make. */
  private Path wanted() {
    return ServiceFacts.UNITS.resolve("multi-user.target.wants").resolve(unit);
  }

  private static void reload() throws IOException {
    Commands.run("systemctl", List.of("daemon-reload"), "find out why, then try again");
  }
}

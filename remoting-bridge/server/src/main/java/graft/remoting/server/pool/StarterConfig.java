package graft.remoting.server.pool;

import graft.remoting.server.control.DeviceSpec;
import graft.remoting.server.control.WorkerKind;
import graft.remoting.server.jail.Isolation;
import graft.remoting.server.jail.JailConfig;
import graft.remoting.server.jail.WorkerJail;
import java.nio.file.Path;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/**
 * The configuration of graft-starter: everything about workers that a server cannot choose. {@code
 * jail/starter/config.c} describes the form.
 */
public final class StarterConfig {
  /** Sessions may name a GPU by an index below this number in the tokens file. */
  private static final int INDEXES = 16;

  private static final String LIMITS = "limits";

  private final StringBuilder text = new StringBuilder("graft-starter 1\n");
  private final WorkerCommand command;
  private final WorkerJail jail;

  /**
   * Creates the configuration.
   *
   * @param command the workers' command
   * @param jail the workers' jail
   * @param device the device of sessions whose token names none
   * @param workers the largest number of workers at one time
   * @param domains the list of the domains of Xen that may get pages; empty if each may
   */
  public StarterConfig(
      WorkerCommand command,
      WorkerJail jail,
      DeviceSpec device,
      int workers,
      Optional<Path> domains) {
    this.command = command;
    this.jail = jail;
    JailConfig limits = jail.config();
    line("program", jail.program());
    if (jail.isolation().has("user")) {
      line("users", limits.firstUser() + " " + limits.lastUser());
    }
    line("workers", workers);
    line("memory", jail.memory());
    line("threads", limits.threads());
    domains.ifPresent(file -> line("domains", file));
    if (limits.usesMps()) {
      text.append("mps\n");
    }
    isolation(jail.isolation());
    options("option", jail.commonOptions());
    for (WorkerKind kind : kinds(device)) {
      add(kind);
    }
    if (limits.usesMps()) {
      add(WorkerKind.MPS);
    }
  }

  /** The starter itself finds out whether it can limit workers by cgroups. */
  private void isolation(Isolation isolation) {
    isolation.parts().stream()
        .filter(part -> !part.equals(LIMITS))
        .forEach(part -> line("part", part + " ok"));
    isolation
        .missing()
        .forEach(
            (part, why) -> {
              if (!part.equals(LIMITS)) {
                line("part", part + " " + why.replace('\n', ' '));
              } else if (jail.leavesOut(LIMITS)) {
                line("without-limits", why);
              }
            });
  }

  private static Set<WorkerKind> kinds(DeviceSpec device) {
    Set<DeviceSpec> devices = new LinkedHashSet<>(List.of(device));
    devices.add(DeviceSpec.parse(device.kind()));
    for (int index = 0; index < INDEXES; index++) {
      devices.add(device.withIndex(index));
    }
    Set<WorkerKind> kinds = new LinkedHashSet<>();
    for (DeviceSpec one : devices) {
      kinds.add(new WorkerKind(one, false));
      kinds.add(new WorkerKind(one, true));
    }
    return kinds;
  }

  private void add(WorkerKind kind) {
    Map<String, String> environment = new TreeMap<>(System.getenv());
    // What the server's own environment says about its service is not the workers'.
    environment.remove("NOTIFY_SOCKET");
    Map<String, String> own = command.environment(kind, environment);
    DeviceSpec device = kind.device();
    line(
        "kind",
        device.kind()
            + " "
            + device.index().orElse(-1)
            + (kind.usesAdapter() ? " adapter" : " plain"));
    line("use", jail.parts(kind));
    options("option", jail.options(kind, environment));
    options("without-cgroup", jail.optionsWithoutCgroup(kind));
    own.forEach(
        (name, value) -> {
          if (!value.contains("\n")) {
            line("environment", name + "=" + value);
          }
        });
    command.arguments(kind, true).forEach(argument -> line("argument", argument));
  }

  private void options(String word, List<String> options) {
    for (int i = 0; i < options.size(); i += 2) {
      line(word, options.get(i) + " " + options.get(i + 1));
    }
  }

  private void line(String word, Object rest) {
    String its = rest.toString();
    if (its.contains("\n")) {
      throw new IllegalArgumentException("'" + its + "' contains a line feed");
    }
    text.append(word).append(' ').append(its).append('\n');
  }

  /** Returns the file's content. */
  public String text() {
    return text.toString();
  }
}

package graft.deployment;

import graft.common.program.CurrentUser;
import graft.deployment.descriptor.InvalidDescriptorException;
import graft.deployment.journal.JournalState;
import graft.deployment.observe.Connections;
import graft.deployment.state.StateFolder;
import graft.hypervisors.libvirt.calls.GuestText;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A deployment of this host, as far as its state folder can be read.
 *
 * @param name the name of its state folder
 * @param state {@code applied}, {@code half done}, {@code not applied} or {@code damaged}
 * @param drift {@code none}, {@code differs} or {@code unknown}
 * @param why why the folder is damaged or the drift is unknown, on one line; empty otherwise
 * @param descriptor the file that it was applied from; empty if none is recorded
 * @param descriptorThere whether that file still exists
 * @param guests the guests with their states now, as {@link DeploymentStatus#guests} has them
 * @param servers the servers with their states now, as {@link DeploymentStatus#servers} has them
 */
public record ListedDeployment(
    String name,
    Path folder,
    String state,
    String drift,
    String why,
    String descriptor,
    boolean descriptorThere,
    List<Map<String, Object>> guests,
    List<Map<String, Object>> servers) {
  private static final int MOST_CHARACTERS = 400;

  /** All deployments of this user on this host, in the order of their names. */
  public static List<ListedDeployment> all() {
    Path root = CurrentUser.stateFolder(System.getenv());
    try (Connections connections = new Connections()) {
      return StateFolder.folders(root).stream().map(folder -> of(folder, connections)).toList();
    }
  }

  /** The deployment of a folder. One that cannot be read must not hide the others. */
  static ListedDeployment of(Path folder, Connections connections) {
    try {
      StateFolder state = StateFolder.sound(folder);
      JournalState journal = Deployments.journal(state);
      return of(state, journal, connections);
    } catch (RuntimeException e) {
      return new ListedDeployment(
          String.valueOf(folder.getFileName()),
          folder,
          "damaged",
          "unknown",
          line(e),
          "",
          false,
          List.of(),
          List.of());
    }
  }

  private static ListedDeployment of(
      StateFolder state, JournalState journal, Connections connections) {
    DeploymentStatus status = new DeploymentStatus(journal, connections);
    String word = word(journal);
    String drift = "unknown";
    String why = "";
    Path descriptor = Path.of(journal.descriptor());
    boolean recorded = !journal.descriptor().isEmpty();
    if (!journal.isEmpty()) {
      try {
        Drift found = Drift.of(state, journal, descriptor, connections);
        why = String.join("; ", found.obstacles());
        drift = !why.isEmpty() ? "unknown" : found.isNone() ? "none" : "differs";
      } catch (InvalidDescriptorException | RuntimeException e) {
        why = line(e);
      }
    }
    return new ListedDeployment(
        state.deployment().text(),
        state.path(),
        word,
        drift,
        GuestText.line(why, MOST_CHARACTERS),
        journal.descriptor(),
        recorded && Files.exists(descriptor),
        status.guests(),
        status.servers());
  }

  /** The state of a deployment whose journal can be read. */
  public static String word(JournalState journal) {
    return journal.isPartial() ? "half done" : journal.isEmpty() ? "not applied" : "applied";
  }

  private static String line(Exception e) {
    String text = e.getMessage() == null ? e.toString() : e.getMessage();
    return GuestText.line(text, MOST_CHARACTERS);
  }

  public boolean isDamaged() {
    return state.equals("damaged");
  }

  /** As a tree for JSON. */
  public Map<String, Object> toTree() {
    Map<String, Object> tree = new LinkedHashMap<>();
    tree.put("deployment", name);
    tree.put("folder", folder.toString());
    tree.put("state", state);
    tree.put("drift", drift);
    tree.put("why", why);
    tree.put("descriptor", descriptor);
    tree.put("descriptorExists", descriptorThere);
    tree.put("guests", guests);
    tree.put("servers", servers);
    return tree;
  }
}

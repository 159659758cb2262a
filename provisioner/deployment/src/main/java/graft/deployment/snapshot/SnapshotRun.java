package graft.deployment.snapshot;

import graft.common.GraftException;
import graft.deployment.AppliedGuest;
import graft.deployment.Consent;
import graft.deployment.DeploymentProgress;
import graft.deployment.Deployments;
import graft.deployment.PowerRun;
import graft.deployment.PowerRun.Stopping;
import graft.deployment.observe.Connections;
import graft.deployment.state.StateFolder;
import graft.hypervisors.libvirt.Guest;
import graft.hypervisors.libvirt.SavedMemory;
import graft.hypervisors.libvirt.domain.Xml;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.w3c.dom.Element;

/**
 * Makes, lists, restores and deletes snapshots of the disks of a guest. All but listing need a
 * guest that is off. What a command needs is checked before a guest is stopped for it, and once
 * more when it is off.
 */
public final class SnapshotRun {
  private final StateFolder state;
  private final String guest;
  private final DeploymentProgress progress;

  /** For a guest of a deployment that was applied. */
  public SnapshotRun(StateFolder state, String guest, DeploymentProgress progress) {
    this.state = state;
    this.guest = guest;
    this.progress = progress;
  }

  private interface Work<T> {
    T on(GuestSnapshots snapshots) throws Exception;
  }

  private <T> T with(Connections connections, Work<T> work) throws Exception {
    Guest domain = applied().domain(connections);
    return work.on(new GuestSnapshots(guest, disks(domain).covered(), new QemuImages()));
  }

  private AppliedGuest applied() {
    return AppliedGuest.of(Deployments.journal(state), guest);
  }

  private CoveredDisks disks(Guest domain) {
    return CoveredDisks.of(guest, applied().steps(), domain.definitionXml().getDocumentElement());
  }

  public ListedSnapshots list() throws IOException {
    try (Connections connections = new Connections()) {
      Guest domain = applied().domain(connections);
      CoveredDisks disks = disks(domain);
      GuestSnapshots.Content content =
          new GuestSnapshots(guest, disks.covered(), new QemuImages()).content();
      return new ListedSnapshots(
          guest,
          domain.state().words(),
          content.bytes(),
          content.snapshots(),
          notCovered(domain, disks));
    }
  }

  /** What a snapshot of the guest leaves out, in words. */
  private static List<String> notCovered(Guest domain, CoveredDisks disks) {
    Element definition = domain.definitionXml().getDocumentElement();
    return Stream.concat(
            disks.others().stream(),
            Xml.text(definition, "os", "nvram").stream()
                .map(file -> "the variables of its firmware, " + file))
        .toList();
  }

  /**
   * Makes a snapshot.
   *
   * @param stop how a running guest is stopped, which is started again afterwards; empty to refuse
   *     a running guest
   */
  public ListedSnapshots create(SnapshotName name, Optional<Stopping> stop) throws Exception {
    run("create", name, stop, snapshots -> snapshots.requireNew(name), s -> s.create(name));
    return list();
  }

  /** Restores a snapshot, which deletes what came after it. */
  public ListedSnapshots restore(SnapshotName name, Optional<Stopping> stop, Consent consent)
      throws Exception {
    run(
        "restore",
        name,
        stop,
        snapshots ->
            consent.require("snapshot restore", snapshots.data(snapshots.restorable(name))),
        snapshots -> snapshots.restore(name));
    return list();
  }

  /** Deletes a snapshot; what the disks have now stays. */
  public ListedSnapshots delete(SnapshotName name, Optional<Stopping> stop, Consent consent)
      throws Exception {
    run(
        "delete",
        name,
        stop,
        snapshots ->
            consent.require("snapshot delete", snapshots.snapshotData(snapshots.deletable(name))),
        snapshots -> {
          snapshots.delete(name);
          return name;
        });
    return list();
  }

  private interface Check {
    void on(GuestSnapshots snapshots) throws Exception;
  }

  private void run(
      String command, SnapshotName name, Optional<Stopping> stop, Check check, Work<?> work)
      throws Exception {
    try (Connections connections = new Connections()) {
      Guest domain = applied().domain(connections);
      if (stop.isEmpty() && domain.state().isActive()) {
        throw running();
      }
      with(
          connections,
          snapshots -> {
            check.on(snapshots);
            return name;
          });
      new PowerRun(state, progress)
          .whileOff(
              "snapshot " + command + " " + guest + " " + name,
              guest,
              stop,
              () -> {
                requireOff(domain);
                return with(connections, work);
              });
    }
  }

  private void requireOff(Guest domain) {
    if (domain.state().isActive()) {
      throw running();
    }
    if (SavedMemory.isThere(domain)) {
      throw new GraftException(
          "the memory of '" + guest + "' was saved by virsh managedsave, and belongs to its disks",
          "graft start " + state.deployment() + " " + guest + " lets the guest go on");
    }
  }

  private GraftException running() {
    return new GraftException(
        "the guest '" + guest + "' runs, and a snapshot needs disks that nobody writes",
        "graft stop "
            + state.deployment()
            + " "
            + guest
            + ", or --stop, which stops the guest and starts it again");
  }
}

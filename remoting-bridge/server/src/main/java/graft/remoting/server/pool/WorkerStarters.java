package graft.remoting.server.pool;

import graft.remoting.server.control.DeviceSpec;
import graft.remoting.server.jail.Isolation;
import graft.remoting.server.jail.JailConfig;
import graft.remoting.server.jail.WorkerJail;
import graft.remoting.server.system.ServerException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/** Chooses how a server starts its workers. */
public final class WorkerStarters {
  private WorkerStarters() {}

  /**
   * Returns what starts workers that a server of this user confines itself: the server if the user
   * is not root, else a graft-starter that the server runs.
   *
   * @param folder the server's private folder
   * @param device the device of sessions whose token names none
   * @param workers the largest number of workers at one time
   * @param lost is called when a starter has ended
   */
  public static WorkerStarter own(
      WorkerCommand command,
      WorkerJail jail,
      Path folder,
      DeviceSpec device,
      int workers,
      Consumer<Throwable> lost)
      throws ServerException {
    return jail.needsStarter()
        ? OwnStarter.start(
            new StarterConfig(command, jail, device, workers, Optional.empty()),
            jail.starter(),
            folder,
            lost)
        : command;
  }

  /** Returns the means that a server started by this user on this host has. */
  public static Isolation isolationOfThisMachine() {
    try (WorkerJail jail = WorkerJail.open(JailConfig.defaults())) {
      if (!jail.needsStarter()) {
        return jail.isolation();
      }
      Path folder = Files.createTempDirectory("graft-doctor");
      WorkerCommand command =
          new WorkerCommand(Object.class, jail, folder, 0, List.of(), true, true, List.of());
      try (WorkerStarter starter =
          own(command, jail, folder, DeviceSpec.parse(DeviceSpec.SOFTWARE), 1, cause -> {})) {
        return starter.isolation();
      } finally {
        Files.delete(folder);
      }
    } catch (IOException | ServerException e) {
      return Isolation.none(e.getMessage());
    }
  }
}

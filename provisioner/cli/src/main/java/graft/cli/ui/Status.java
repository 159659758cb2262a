package graft.cli.ui;

import graft.cli.deployment.StatusReport;
import graft.common.program.CurrentUser;
import graft.deployment.state.StateFolder;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What is looked at less often, since it asks the hypervisor and the guests.
 *
 * @param host the rows of {@link HostView}
 * @param deployments as {@code graft status} has them; one that cannot be read has the state {@code
 *     damaged}, and a {@code why}
 * @param reports the reports of comparisons
 */
record Status(
    Map<String, Object> host,
    List<Map<String, Object>> deployments,
    List<Map<String, Object>> reports) {

  /**
   * Looks at this host.
   *
   * @param folders where comparisons have written their reports
   */
  static Status look(HostView host, List<Path> folders) {
    List<Map<String, Object>> deployments =
        StateFolder.folders(CurrentUser.stateFolder(System.getenv())).stream()
            .map(Status::deployment)
            .toList();
    return new Status(host.tree(), deployments, ReportFiles.in(folders));
  }

  private static Map<String, Object> deployment(Path folder) {
    try {
      return StatusReport.asApplied(StateFolder.sound(folder)).tree();
    } catch (RuntimeException e) {
      Map<String, Object> damaged = new LinkedHashMap<>();
      damaged.put("deployment", String.valueOf(folder.getFileName()));
      damaged.put("state", "damaged");
      damaged.put("why", e.getMessage() == null ? e.toString() : e.getMessage());
      return damaged;
    }
  }
}

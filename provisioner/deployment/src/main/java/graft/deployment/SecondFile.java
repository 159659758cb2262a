package graft.deployment;

import graft.common.bind.Problems;
import graft.deployment.descriptor.DescriptorFile;
import graft.deployment.descriptor.DescriptorReader;
import graft.deployment.descriptor.InvalidDescriptorException;
import graft.deployment.journal.JournalState;
import graft.deployment.plan.UnfitHostException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Refuses a second file with the name of a deployment: the two would take turns in removing each
 * other's guests. A file that was moved or renamed continues its deployment.
 */
final class SecondFile {
  private SecondFile() {}

  /**
   * Refuses the file if the deployment was applied from another one, which is still there.
   *
   * @throws UnfitHostException that names both
   */
  static void refuse(DescriptorFile file, JournalState journal) {
    Path now = file.path().toAbsolutePath().normalize();
    Path before = Path.of(journal.descriptor());
    boolean isFile = !file.path().equals(DescriptorReader.STANDARD_INPUT);
    if (!isFile || journal.descriptor().isEmpty() || before.equals(now) || !Files.exists(before)) {
      return;
    }
    var name = file.descriptor().deploymentName();
    try {
      if (!DescriptorReader.read(before).descriptor().deploymentName().equals(name)) {
        return;
      }
    } catch (InvalidDescriptorException e) {
      return; // what is there now describes no deployment
    }
    Problems problems = new Problems();
    problems.add(
        file.positions().of(file.descriptor(), "name"),
        "the deployment '" + name + "' was applied from " + before,
        "give this one another name, or remove that file if this one replaces it");
    throw new UnfitHostException(problems.sorted());
  }
}

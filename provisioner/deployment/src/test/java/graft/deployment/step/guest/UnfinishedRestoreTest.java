package graft.deployment.step.guest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import graft.deployment.step.StepFailure;
import graft.hypervisors.libvirt.domain.Xml;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.w3c.dom.Element;

/** A guest some of whose disks are restored and others not does not start. */
class UnfinishedRestoreTest {
  @TempDir Path folder;
  private Path root;
  private Path data;

  @BeforeEach
  void disks() {
    root = folder.resolve("root.qcow2");
    data = folder.resolve("data.qcow2");
  }

  private Element domain() {
    return Xml.parse(
            "<domain><devices><disk device='cdrom'/><disk><source dev='/dev/sdb'/></disk>"
                + "<disk><source file='"
                + data
                + "'/></disk></devices></domain>")
        .getDocumentElement();
  }

  private void delete(Path disk) throws Exception {
    new CreateDisk("alice", "any", Optional.empty(), "", Optional.empty(), disk)
        .undo(null, Map.of());
  }

  @Test
  void theGuestIsRefusedUntilTheRestoreHasEnded() throws Exception {
    UnfinishedRestore.refuse("alice", domain());
    UnfinishedRestore.begin(root, "before");
    assertThatThrownBy(() -> UnfinishedRestore.refuse("alice", domain()))
        .isInstanceOf(StepFailure.class)
        .hasMessageContaining("the restore of its snapshot 'before' was interrupted");
    UnfinishedRestore.end(root);
    UnfinishedRestore.refuse("alice", domain());
    assertThat(folder).isEmptyDirectory();
  }

  @Test
  void theMarkLivesAsLongAsTheFirstDisk() throws Exception {
    UnfinishedRestore.begin(root, "before");
    delete(data);
    assertThat(UnfinishedRestore.of(data)).contains("before");
    delete(root);
    assertThat(UnfinishedRestore.of(data)).isEmpty();
  }

  @Test
  void aMarkThatIsDamagedStillRefuses() throws Exception {
    Files.writeString(folder.resolve("restoring"), "before");
    delete(root);
    assertThatThrownBy(() -> UnfinishedRestore.refuse("alice", domain()))
        .hasMessageContaining("'before'");
  }
}

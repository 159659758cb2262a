package graft.cli.host;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import graft.common.GraftException;
import graft.deployment.descriptor.gpu.LibraryPath;
import graft.remoting.server.jail.JailConfig;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class ProfilingSettingsTest {
  @TempDir Path folder;

  private static JailConfig with(Path library) {
    ProfilingSettings settings = new ProfilingSettings();
    settings.library = LibraryPath.parse(library.toString());
    return settings.addTo(JailConfig.defaults());
  }

  private Path library(String permissions) throws IOException {
    Path library = Files.createFile(folder.resolve("libcupti.so.2025.3.1"));
    return Files.setPosixFilePermissions(library, PosixFilePermissions.fromString(permissions));
  }

  @Test
  void workersHaveNoneUnlessItIsNamed() {
    JailConfig jail = JailConfig.defaults();

    assertThat(new ProfilingSettings().addTo(jail)).isEqualTo(jail);
  }

  /** NVIDIA's packages have links of both names that programs use. */
  @Test
  void aLinkToALibraryIsTaken() throws IOException {
    Path library = library("rw-r--r--");
    Path link = Files.createSymbolicLink(folder.resolve("libcupti.so.13"), library.getFileName());

    assertThat(with(link).profiler()).contains(link);
  }

  @Test
  void aFileThatIsNotThereIsRefusedWithThePlaceWhereItUsuallyIs() {
    assertThatThrownBy(() -> with(folder.resolve("libcupti.so.13")))
        .isInstanceOf(GraftException.class)
        .hasMessageContaining(folder + "/libcupti.so.13: there is no such file")
        .hasMessageContaining("usually /usr/local/cuda/extras/CUPTI/lib64/libcupti.so.13");
  }

  @Test
  void aFolderIsRefused() {
    assertThatThrownBy(() -> with(folder))
        .isInstanceOf(GraftException.class)
        .hasMessageContaining(folder + ": it is no file");
  }

  /** Root could read it, and its workers, which are other users, could not. */
  @Test
  void aLibraryThatWorkersCannotReadIsRefused() throws IOException {
    Path library = library("-wx------");

    assertThatThrownBy(() -> with(library))
        .isInstanceOf(GraftException.class)
        .hasMessageContaining("that workers run as cannot read it")
        .hasMessageContaining("chmod o+r " + library);
  }
}

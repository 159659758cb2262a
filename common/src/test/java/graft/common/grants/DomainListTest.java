package graft.common.grants;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The domains that a starter may share pages with. */
class DomainListTest {
  @TempDir Path folder;
  private DomainList list;

  @BeforeEach
  void list() {
    list = DomainList.of(folder.resolve("tokens"));
  }

  @Test
  void aDomainIsALineOfAFileThatOnlyItsOwnerReads() throws Exception {
    list.add("left");
    list.add("right");
    list.add("left");
    assertThat(folder.resolve("tokens.domains")).hasContent("right\nleft\n");
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(list.file())))
        .isEqualTo("rw-------");
  }

  @Test
  void theLastDomainTakesTheFileWithIt() throws Exception {
    list.remove("left");
    assertThat(list.file()).doesNotExist();
    list.add("left");
    list.add("right");
    list.remove("left");
    assertThat(list.file()).hasContent("right\n");
    list.remove("right");
    assertThat(list.file()).doesNotExist();
  }
}

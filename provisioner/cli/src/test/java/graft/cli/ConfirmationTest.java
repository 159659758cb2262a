package graft.cli;

import static org.assertj.core.api.Assertions.assertThat;

import graft.common.values.Name;
import graft.deployment.apply.Steps;
import graft.deployment.journal.Journal;
import graft.deployment.state.StateFolder;
import graft.deployment.step.guest.CreateDisk;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A person at a terminal sees what will be done, and is asked; a script is not. */
final class ConfirmationTest {
  @TempDir Path folder;
  @AutoClose private GraftProcess graft;
  private Path disk;
  private Path journal;

  @BeforeEach
  void aGuestWithADisk() throws Exception {
    graft = new GraftProcess(folder);
    StateFolder state = new StateFolder(new Name("lab"), graft.state("lab"));
    state.create();
    disk = Files.writeString(folder.resolve("root.qcow2"), "precious");
    CreateDisk made = new CreateDisk("alice", "root", Optional.empty(), "", Optional.empty(), disk);
    journal = state.journal();
    try (Journal open = Journal.open(journal, Steps.CODEC, Clock.systemUTC())) {
      long run = open.apply(folder.resolve("lab.yaml").toString(), "qemu:///system");
      open.begin(run, made, Map.of());
      open.done(made, Map.of());
      open.end(run, "done");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"\n", "n\n", "maybe\n", ""})
  void whatIsDeclinedIsNotDone(String typed) throws Exception {
    String before = Files.readString(journal);
    for (String command : new String[] {"undo", "destroy"}) {
      String said = graft.onTerminal(typed, command, "--delete-data", "lab").as(1).out();
      assertThat(said)
          .contains("guest alice", "- undo: ", "deletes data: the disk 'root' of alice")
          .contains("Do this? [y/N] ", "graft " + command + " was declined");
    }
    assertThat(Files.readString(journal)).isEqualTo(before);
    assertThat(disk).hasContent("precious");
  }

  @Test
  void aYesIsNotAConsentToDeleteData() throws Exception {
    String before = Files.readString(journal);
    for (String option : new String[] {"-y", "--yes"}) {
      assertThat(graft.onTerminal("yes\n", "destroy", option, "lab").as(1).out())
          .contains("Type 'delete' to go on: ", "nothing was changed")
          .doesNotContain("Do this?");
    }
    assertThat(graft.onTerminal("y\nno\n", "destroy", "lab").as(1).out())
        .contains("Do this? [y/N] ", "Type 'delete' to go on: ", "nothing was changed");
    assertThat(Files.readString(journal)).isEqualTo(before);
    assertThat(graft.onTerminal("y\ndelete\n", "destroy", "lab").as(0).out())
        .contains("1 steps undone");
    assertThat(disk).doesNotExist();
  }

  @Test
  void nobodyIsAskedWithTheOptionsAndInAScript() throws Exception {
    assertThat(graft.onTerminal("", "undo", "--yes", "--delete-data", "lab").as(0).out())
        .doesNotContain("Do this?");
    assertThat(disk).doesNotExist();
    aGuestWithADisk();
    assertThat(graft.run("destroy", "--delete-data", "lab").as(0).out()).doesNotContain("Do this?");
    assertThat(disk).doesNotExist();
  }
}

package graft.deployment;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import graft.common.values.Name;
import graft.deployment.apply.Steps;
import graft.deployment.descriptor.DescriptorReader;
import graft.deployment.journal.Journal;
import graft.deployment.journal.JournalState;
import graft.deployment.plan.UnfitHostException;
import graft.deployment.state.StateFolder;
import graft.deployment.step.guest.CreateDisk;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Data is deleted only with consent, and without it nothing else changes either. */
class ConsentTest {
  @TempDir Path folder;
  private StateFolder state;
  private Path disk;

  @BeforeEach
  void aGuestWithADisk() throws Exception {
    state = new StateFolder(new Name("lab"), folder.resolve("lab"));
    state.create();
    disk = Files.writeString(folder.resolve("root.qcow2"), "precious");
    CreateDisk made = new CreateDisk("alice", "root", Optional.empty(), "", Optional.empty(), disk);
    try (Journal journal = Journal.open(state.journal(), Steps.CODEC, Clock.systemUTC())) {
      long run = journal.apply(folder.resolve("lab.yaml").toString(), "qemu:///system");
      journal.begin(run, made, Map.of());
      journal.done(made, Map.of());
      journal.end(run, "done");
    }
  }

  private UndoRun.Result destroy(Consent consent) throws Exception {
    return new UndoRun(state, "destroy", new QuietProgress())
        .run(JournalState::newestFirst, consent);
  }

  @Test
  void withoutConsentNothingIsUndone() throws Exception {
    String before = Files.readString(state.journal());
    assertThatThrownBy(() -> destroy(Consent.NONE))
        .isInstanceOf(DataKeptException.class)
        .hasMessageContaining("nothing was changed: the disk 'root' of alice, " + disk);
    assertThat(disk).hasContent("precious");
    assertThat(Files.readString(state.journal())).isEqualTo(before);
  }

  @Test
  void consentIsAskedForByName() throws Exception {
    List<String> asked = new ArrayList<>();
    destroy(asked::addAll);
    assertThat(asked).containsExactly("the disk 'root' of alice, " + disk);
    assertThat(disk).doesNotExist();
    assertThat(state.path()).doesNotExist();
  }

  private Path descriptor(String name, String deployment) throws Exception {
    return Files.writeString(
        folder.resolve(name), "graft: 1\nname: " + deployment + "\nguests: []\n");
  }

  private void plan(Path descriptor) throws Exception {
    SecondFile.refuse(
        DescriptorReader.read(descriptor), Journal.read(state.journal(), Steps.CODEC));
  }

  @Test
  void aSecondFileWithTheSameNameIsRefused() throws Exception {
    Path first = descriptor("lab.yaml", "lab");
    plan(first);
    Path second = descriptor("copy.yaml", "lab");
    assertThatThrownBy(() -> plan(second))
        .isInstanceOf(UnfitHostException.class)
        .hasMessageContaining("copy.yaml:2")
        .hasMessageContaining("'lab' was applied from " + first);
    descriptor("lab.yaml", "other");
    plan(second);
    Files.delete(first);
    plan(second);
  }
}

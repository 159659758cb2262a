package graft.deployment;

import static org.assertj.core.api.Assertions.assertThat;

import graft.deployment.apply.Steps;
import graft.deployment.journal.Journal;
import graft.deployment.observe.Connections;
import graft.deployment.state.StateFolder;
import graft.deployment.step.Step;
import graft.deployment.step.guest.DefineGuest;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Clock;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What can be listed of the state folder, whatever is in it. */
class ListedDeploymentTest {
  private static final String UUID = "6f3c1bd2-1f51-4d8e-8f0a-0d4f1f3f2f10";

  @TempDir Path root;

  private Path folder(String name) throws Exception {
    return Files.createDirectories(
        root.resolve(name),
        PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
  }

  private Path applied(String name, Path descriptor) throws Exception {
    Path folder = folder(name);
    // Nothing answers there: the state of the guest is not known.
    String uri = "qemu:///system?socket=" + root.resolve("none");
    Step define = new DefineGuest(uri, "alice", UUID, "1 CPU", "<domain type='kvm'/>");
    try (Journal journal =
        Journal.open(folder.resolve("journal.jsonl"), Steps.CODEC, Clock.systemUTC())) {
      journal.begin(journal.apply(descriptor.toString(), uri), define, Map.of());
      journal.done(define, Map.of());
    }
    return folder;
  }

  private static ListedDeployment list(Path folder) {
    try (Connections connections = new Connections()) {
      return ListedDeployment.of(folder, connections);
    }
  }

  @Test
  void aDeploymentIsListedWithItsGuestsAndWhereItsDescriptorLay() throws Exception {
    ListedDeployment lab = list(applied("lab", Path.of("/nowhere/lab.yaml")));
    assertThat(lab.name()).isEqualTo("lab");
    assertThat(lab.state()).isEqualTo("applied");
    assertThat(lab.descriptor()).isEqualTo("/nowhere/lab.yaml");
    assertThat(lab.descriptorThere()).isFalse();
    assertThat(lab.drift()).isEqualTo("unknown");
    assertThat(lab.why()).isEqualTo("the descriptor /nowhere/lab.yaml is gone");
    assertThat(lab.guests()).hasSize(1);
    assertThat(lab.guests().get(0)).containsEntry("name", "alice");
    assertThat(lab.guests().get(0).get("state").toString()).startsWith("unknown: ");
    assertThat(lab.toTree().keySet())
        .containsExactly(
            "deployment",
            "folder",
            "state",
            "drift",
            "why",
            "descriptor",
            "descriptorExists",
            "guests",
            "servers");
  }

  @Test
  void aDescriptorThatIsWrongNowLeavesTheDriftUnknown() throws Exception {
    Path wrong = Files.writeString(root.resolve("lab.yaml"), "graft: 1\nguests: [{nam: a}]\n");
    ListedDeployment lab = list(applied("lab", wrong));
    assertThat(lab.state()).isEqualTo("applied");
    assertThat(lab.drift()).isEqualTo("unknown");
    assertThat(lab.why()).contains("lab.yaml:2:").doesNotContain("\n");
  }

  @Test
  void aDamagedJournalIsSaidOnOneLine() throws Exception {
    Path folder = applied("lab", Path.of("/nowhere/lab.yaml"));
    Path journal = folder.resolve("journal.jsonl");
    Files.writeString(journal, "\u001b[2J\n" + Files.readString(journal));
    ListedDeployment lab = list(folder);
    assertThat(lab.state()).isEqualTo("damaged");
    assertThat(lab.why())
        .contains("the journal " + journal + " is not readable at line 1")
        .doesNotContain("\u001b", "\n");
  }

  @Test
  void aJournalWhoseRecordsDoNotFitEachOtherIsDamaged() throws Exception {
    Path folder = applied("lab", Path.of("/nowhere/lab.yaml"));
    Path journal = folder.resolve("journal.jsonl");
    String text = Files.readString(journal).replace("\"kind\":\"define-guest\"", "\"kind\":\"no\"");
    Files.writeString(journal, text);
    assertThat(list(folder).state()).isEqualTo("damaged");
    Files.delete(journal);
    Files.createDirectory(journal);
    assertThat(list(folder).state()).as("a folder in its place").isEqualTo("damaged");
  }

  @Test
  void aFolderThatOthersCanWriteToIsNotBelieved() throws Exception {
    Path folder = applied("lab", Path.of("/nowhere/lab.yaml"));
    Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxrwxrwx"));
    ListedDeployment lab = list(folder);
    assertThat(lab.state()).isEqualTo("damaged");
    assertThat(lab.why()).contains("other users can write to the state folder");
    assertThat(lab.guests()).isEmpty();
  }

  @Test
  void everyFolderWithAJournalIsFoundAndNoOther() throws Exception {
    applied("lab", Path.of("/nowhere/lab.yaml"));
    Path strange = applied("No Name", Path.of("/nowhere/lab.yaml"));
    Path link = folder("link");
    Files.createSymbolicLink(link.resolve("journal.jsonl"), Path.of("/nowhere"));
    folder(".devices");
    assertThat(StateFolder.folders(root))
        .extracting(folder -> folder.getFileName().toString())
        .containsExactlyElementsOf(List.of("No Name", "lab", "link"));
    assertThat(list(strange).state()).isEqualTo("damaged");
    assertThat(StateFolder.folders(root.resolve("none"))).isEmpty();
  }
}

package graft.deployment.journal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import graft.common.GraftException;
import graft.common.values.Endpoint;
import graft.common.values.MemorySize;
import graft.deployment.apply.Steps;
import graft.deployment.descriptor.gpu.PortName;
import graft.deployment.state.SmallDisk;
import graft.deployment.step.Step;
import graft.deployment.step.guest.BuildInitramfs;
import graft.deployment.step.guest.MakeToken;
import graft.deployment.step.host.StartServer;
import graft.guests.payload.FileStamp;
import graft.guests.payload.Payload;
import graft.guests.payload.PayloadFile;
import graft.sriov.RamTempDirFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Clock;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the journal keeps, and what it makes of a file that a crash cut short. */
class JournalTest {
  /** In memory, since a disk would have to store each of thousands of records at once. */
  @TempDir(factory = RamTempDirFactory.class)
  Path folder;

  private final Step server =
      new StartServer(
          "gpu0",
          List.of(Endpoint.tcp("127.0.0.1", 7799), Endpoint.unix("/run/x")),
          "software",
          Optional.of(MemorySize.ofMib(512)),
          1,
          List.of(PortName.parse("mlx5_0:1"), PortName.parse("02:00:00:00:00:01")),
          Path.of("/s/tokens"),
          Path.of("/s/pid"),
          Path.of("/s/log"),
          List.of());
  private final Step initramfs =
      new BuildInitramfs(
          "alice",
          new FileStamp(Path.of("/i/initramfs"), 10, 20),
          new Payload(
              "alice",
              List.of(
                  PayloadFile.of(new FileStamp(Path.of("/c/lib"), 1, 2), "/usr/lib/lib", 0644),
                  PayloadFile.text("text\n", "/etc/text", 0600).inGroup("video"),
                  PayloadFile.secret(Path.of("/s/token"), "/etc/graft/token", 0640)),
              List.of("numactl"),
              List.of("A=b"),
              List.of("a.service")),
          Path.of("/g/initramfs"));

  @Test
  void stepsComeBackAsTheyWere() {
    try (Journal journal = open()) {
      long run = journal.apply("/d/lab.yaml", "qemu:///system");
      journal.begin(run, server, Map.of());
      journal.done(server, Map.of("pid", 42L));
      journal.begin(run, initramfs, Map.of());
    }
    JournalState read = read();
    assertThat(read.entries().values()).extracting(Entry::step).containsExactly(server, initramfs);
    assertThat(read.entry(server.id()).orElseThrow().result()).containsEntry("pid", 42L);
    assertThat(read.isPartial()).isTrue();
    assertThat(read.lastRun()).isEqualTo(1);
    assertThat(read.descriptor()).isEqualTo("/d/lab.yaml");
    assertThat(read.uri()).isEqualTo("qemu:///system");
  }

  @Test
  void whatIsUndoneIsGone() {
    try (Journal journal = open()) {
      journal.begin(journal.apply("", ""), server, Map.of());
      journal.undoing(server);
      journal.undone(server);
      assertThat(journal.state().isEmpty()).isTrue();
    }
    assertThat(read().isEmpty()).isTrue();
  }

  @Test
  void aFileCutAtAnyByteIsReadUpToItsLastWholeRecord() throws Exception {
    try (Journal journal = open()) {
      long run = journal.apply("", "");
      journal.begin(run, server, Map.of());
      journal.done(server, Map.of());
      journal.begin(run, initramfs, Map.of());
    }
    byte[] whole = Files.readAllBytes(file());
    for (int length = 0; length <= whole.length; length++) {
      Files.write(file(), Arrays.copyOf(whole, length));
      int records = (int) Files.readString(file()).chars().filter(c -> c == '\n').count();
      assertThat(read().entries()).as("cut at byte %s", length).hasSize(Math.max(0, records / 2));
    }
  }

  @Test
  void appendingToACutFileDropsItsLastPiece() throws Exception {
    try (Journal journal = open()) {
      journal.begin(journal.apply("", ""), server, Map.of());
    }
    Files.writeString(file(), Files.readString(file()) + "{\"event\":\"do");
    try (Journal journal = open()) {
      journal.done(server, Map.of());
    }
    assertThat(read().entry(server.id()).orElseThrow().isDone()).isTrue();
  }

  @Test
  void aDamagedRecordInTheMiddleIsAnError() throws Exception {
    Files.writeString(file(), "{}\nrubbish\n");
    assertThatThrownBy(this::read)
        .isInstanceOf(GraftException.class)
        .hasMessageContaining("is not readable at line 1");
  }

  @Test
  void aRecordThatDoesNotFitOnTheDiskLeavesNothingWhereverItIsCut() {
    for (int room = 0; room < 1000; room++) {
      try (SmallDisk disk = new SmallDisk(room);
          Journal journal = open()) {
        boolean fits = true;
        try {
          journal.begin(journal.apply("", ""), server, Map.of());
        } catch (GraftException e) {
          assertThat(e)
              .hasMessageContaining("No space left")
              .hasMessageContaining("free some space");
          fits = false;
        }
        assertThat(read().entries()).as("room for %s bytes", room).hasSize(fits ? 1 : 0);
        disk.room(10_000);
        journal.begin(journal.apply("", ""), initramfs, Map.of());
        assertThat(read().entry(initramfs.id())).isPresent();
      }
      file().toFile().delete();
    }
  }

  @Test
  void onADiskThatGotFullNothingBeginsAndAllCanBeUndone() {
    try (SmallDisk disk = new SmallDisk(1 << 20);
        Journal journal = open()) {
      journal.reserve(10);
      long run = journal.apply("", "");
      journal.begin(run, server, Map.of());
      disk.room(0);
      assertThatThrownBy(() -> journal.begin(run, initramfs, Map.of()))
          .hasMessageContaining("No space left");
      journal.failed(server, "x");
      disk.room(100_000); // others have taken most of what was kept
      for (int i = 0; i < 10; i++) {
        journal.undoing(server);
      }
      journal.undone(server);
      journal.end(run, "undone");
    }
    assertThat(read().isEmpty()).isTrue();
  }

  @Test
  void anApplyThatCouldNotBeUndoneOnThisDiskDoesNotBegin() {
    try (SmallDisk disk = new SmallDisk(100_000);
        Journal journal = open()) {
      assertThatThrownBy(() -> journal.reserve(1)).hasMessageContaining("No space left");
      assertThat(folder.resolve("journal.jsonl")).isEmptyFile();
      assertThat(folder).isDirectoryNotContaining("glob:**reserve*");
      disk.room(500_000);
      journal.reserve(200);
      assertThatThrownBy(() -> journal.reserve(300)).hasMessageContaining("No space left");
      journal.reserve(100); // an earlier reserve that is larger stays
    }
  }

  @Test
  void noSecretStandsInIt() {
    Step token = new MakeToken("alice", Path.of("/s/token"), Optional.empty());
    try (Journal journal = open()) {
      journal.begin(journal.apply("", ""), token, Map.of());
    }
    assertThat(file()).content().doesNotContainPattern("[0-9a-f]{64}");
    assertThat(file())
        .satisfies(
            f ->
                assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(f)))
                    .isEqualTo("rw-------"));
  }

  private Journal open() {
    return Journal.open(file(), Steps.CODEC, Clock.systemUTC());
  }

  private JournalState read() {
    return Journal.read(file(), Steps.CODEC);
  }

  private Path file() {
    return folder.resolve("journal.jsonl");
  }
}

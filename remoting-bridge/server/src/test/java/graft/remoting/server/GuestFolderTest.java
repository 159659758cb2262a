package graft.remoting.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import graft.remoting.server.jail.Isolation;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * The workers of a guest share their /dev/shm, although each is another user of the host, and share
 * it with no other guest's workers. Files that workers create have mode 0600, as those of NVIDIA's
 * driver have. {@code jail/test/guest_folder.c} tests the same without a server.
 */
@Timeout(120)
class GuestFolderTest {
  private static final String FILE = "/dev/shm/event";

  /** More than a guest's folder holds. */
  private static final String MUCH = Long.toString(256L << 20);

  private static final Duration PATIENCE = Duration.ofSeconds(60);

  @TempDir static Path folder;
  private static ServerFixture fixture;

  @BeforeAll
  static void start() throws Exception {
    // This process's first handshake takes seconds on a machine that does much else.
    fixture =
        ServerFixture.start(folder, "hostile", config -> config.spares(2).handshakeLimit(PATIENCE));
    Isolation isolation = fixture.server.isolation();
    assumeTrue(isolation.hasGuestFolders(), isolation::describe);
  }

  @AfterAll
  static void stop() {
    if (fixture != null) {
      fixture.close();
    }
  }

  private static HostileClient alice() throws IOException {
    return HostileClient.session(fixture.address(), "alice", ServerFixture.ALICE);
  }

  private static HostileClient bob() throws IOException {
    return HostileClient.session(fixture.address(), "bob", ServerFixture.BOB);
  }

  @Test
  void sessionsOfOneGuestOpenEachOthersFiles() throws Exception {
    try (HostileClient one = alice();
        HostileClient two = alice()) {
      assertThat(one.user()).isNotEqualTo(two.user()).isNotZero();
      assertThat(one.attempt("user"))
          .as("NVIDIA's driver looks for files whose names contain its own user")
          .isEqualTo(two.attempt("user"));
      assertThat(one.attempt("write " + FILE)).isEqualTo("DONE");
      assertThat(two.attempt("read " + FILE)).isEqualTo("DONE");
      assertThat(two.attempt("write " + FILE)).isEqualTo("DONE");
    }
  }

  @Test
  void anotherGuestSeesNothingOfThem() throws Exception {
    try (HostileClient one = alice();
        HostileClient two = bob()) {
      assertThat(one.attempt("write " + FILE)).isEqualTo("DONE");
      assertThat(two.attempt("see /dev/shm")).isEmpty();
      assertThat(two.attempt("read " + FILE)).contains("NoSuchFile");
      assertThat(two.attempt("write " + FILE)).isEqualTo("DONE");
    }
  }

  @Test
  void aFullFolderHarmsItsGuestAlone() throws Exception {
    try (HostileClient one = alice();
        HostileClient two = bob()) {
      assertThat(one.attempt("fill " + FILE + " " + MUCH)).contains("No space left");
      assertThat(two.attempt("fill " + FILE + " " + (32L << 20))).isEqualTo("DONE");
    }
  }

  @Test
  void nothingOfAFolderOutlivesItsGuestsLastSession() throws Exception {
    try (HostileClient one = alice()) {
      assertThat(one.attempt("write " + FILE)).isEqualTo("DONE");
    }
    // A session that begins before the other's worker has ended shares its folder.
    String seen;
    do {
      try (HostileClient next = alice()) {
        seen = next.attempt("see /dev/shm");
      }
    } while (!seen.isEmpty());
  }

  @Test
  void aWorkerCanNeitherRemoveNorReplaceTheFolder() throws Exception {
    try (HostileClient one = alice()) {
      assertThat(one.attempt("call 84 '/dev/shm")).as("rmdir").isNotEqualTo("DONE");
      assertThat(one.attempt("call 82 '/dev/shm '/dev/other")).as("rename").isNotEqualTo("DONE");
      assertThat(one.attempt("call 166 '/dev/shm 2")).as("umount2").isNotEqualTo("DONE");
      assertThat(one.attempt("call 442 -100 '/dev/shm 0 +32 32"))
          .as("mount_setattr")
          .isNotEqualTo("DONE");
      assertThat(one.attempt("write /dev/other")).isNotEqualTo("DONE");
    }
  }
}

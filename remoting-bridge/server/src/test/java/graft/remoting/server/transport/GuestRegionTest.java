package graft.remoting.server.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import graft.remoting.device.Memory;
import graft.remoting.server.GuestMemoryClient;
import graft.remoting.server.accept.GuestMemory;
import graft.remoting.server.protocol.ProtocolException;
import graft.remoting.server.system.Libc;
import graft.remoting.server.system.Scratch;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The memory of one guest, shared by its sessions. */
class GuestRegionTest {
  private static final long MIB = 1 << 20;

  /** This process has nothing at these addresses. */
  private static final long BASE = 0x220000000000L;

  private static final long OTHER = 0x230000000000L;

  @TempDir Path folder;

  private Path file(long bytes) throws IOException {
    Path file = folder.resolve("region");
    try (RandomAccessFile made = new RandomAccessFile(file.toFile(), "rw")) {
      made.setLength(bytes);
    }
    return file;
  }

  /** Opens the region in the same way as the server and a worker. */
  private static GuestRegion open(Path file, long address)
      throws IOException, GuestRegion.UnfitException {
    GuestMemory memory = GuestMemory.region(file);
    if (memory.fds().isEmpty()) {
      throw new GuestRegion.UnfitException(memory.problem());
    }
    return GuestRegion.open(memory.fds().get(0), address);
  }

  private static void leave(GuestRegion region) {
    Libc.munmap(region.rings(), Region.CONTROL);
    Libc.close(region.fd());
  }

  @Test
  void eachSessionHasRingsOfItsOwnThatAreEmptyAndMarked() throws Exception {
    Path file = file(32 * MIB);
    Files.write(file, new byte[] {1, 2, 3, 4});
    try (RandomAccessFile all = new RandomAccessFile(file.toFile(), "rw")) {
      all.setLength(32 * MIB);
    }
    GuestRegion one = open(file, BASE);
    GuestRegion two = open(file, OTHER);
    long first = one.rings() - one.address();
    long second = two.rings() - two.address();
    assertThat(Math.abs(first - second)).isGreaterThanOrEqualTo(Region.CONTROL);
    assertThat(Scratch.bytesAt(one.rings(), GuestRegion.MARK)).isEqualTo(one.mark().array());
    assertThat(one.mark()).isNotEqualTo(two.mark());
    for (long position = 4096; position < RingTransport.POSITIONS; position += 8) {
      assertThat(Memory.getLong(one.rings() + position)).isZero();
    }
    leave(one);
    leave(two);
  }

  @Test
  void whatASessionThatIsGoneHadIsFreeAgain() throws Exception {
    Path file = file(16 * MIB);
    GuestRegion one = open(file, BASE);
    assertThatThrownBy(() -> open(file, OTHER))
        .isInstanceOf(GuestRegion.UnfitException.class)
        .hasMessageContaining("no room");
    // When a process ends, its descriptors are closed.
    leave(one);
    leave(open(file, OTHER));
  }

  @Test
  void whatAClientSaysThatItLackedIsCutAndNeverFalls() throws Exception {
    GuestRegion region = open(file(16 * MIB), BASE);
    assertThat(region.lacked(Long.MIN_VALUE)).isTrue();
    assertThat(region.mostLacked()).isZero();
    region.lacked(3);
    region.lacked(2);
    assertThat(region.mostLacked()).isEqualTo(3);
    region.lacked(Long.MAX_VALUE);
    assertThat(region.mostLacked()).isEqualTo(Region.MOST_LACKED);
    leave(region);
  }

  @Test
  void aSessionWaitsForTheRoomOfOneThatEnds() throws Exception {
    Path file = file(16 * MIB);
    GuestRegion one = open(file, BASE);
    CompletableFuture<GuestRegion> two =
        CompletableFuture.supplyAsync(
            () -> {
              try {
                return open(file, OTHER);
              } catch (IOException | GuestRegion.UnfitException e) {
                throw new CompletionException(e);
              }
            });
    TimeUnit.MILLISECONDS.sleep(100);
    assertThat(two).isNotDone();
    leave(one);
    leave(two.get(10, TimeUnit.SECONDS));
  }

  @Test
  void chunksNeverOverlapWhoeverTakesAndReleasesThem() throws Exception {
    Path file = file(64 * MIB);
    List<SharedChunks> sessions = new ArrayList<>();
    List<Integer> descriptors = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      descriptors.add(GuestMemoryClient.open(file));
      sessions.add(new SharedChunks(descriptors.get(i), 64 * MIB));
    }
    Random random = new Random(7);
    TreeMap<Long, long[]> taken = new TreeMap<>();
    int refused = 0;
    for (int i = 0; i < 20_000; i++) {
      int session = random.nextInt(4);
      if (random.nextInt(3) > 0) {
        long length = 4096L * (1 + random.nextInt(random.nextBoolean() ? 8 : 2000));
        long at = sessions.get(session).take(length, 4096);
        if (at < 0) {
          refused++;
          continue;
        }
        assertThat(at + length).isLessThanOrEqualTo(64 * MIB);
        var before = taken.floorEntry(at + length - 1);
        assertThat(before == null || before.getKey() + before.getValue()[0] <= at).isTrue();
        taken.put(at, new long[] {length, session});
      } else if (!taken.isEmpty()) {
        var some = taken.ceilingEntry(Math.floorMod(random.nextLong(), 64 * MIB));
        if (some != null) {
          taken.remove(some.getKey());
          sessions.get((int) some.getValue()[1]).give(some.getKey(), some.getValue()[0]);
        }
      }
    }
    assertThat(refused).as("the file was full at times").isPositive();
    descriptors.forEach(Libc::close);
  }

  @Test
  void aFileThatIsMissingTooSmallOrALinkIsNotUsed() throws Exception {
    assertThatThrownBy(() -> open(folder.resolve("none"), BASE))
        .isInstanceOf(GuestRegion.UnfitException.class)
        .hasMessageContaining("none");
    Path file = file(8 * MIB);
    assertThatThrownBy(() -> open(file, BASE))
        .isInstanceOf(GuestRegion.UnfitException.class)
        .hasMessageContaining("8388608 bytes, too few");
    Path link = Files.createSymbolicLink(folder.resolve("link"), file);
    assertThatThrownBy(() -> open(link, BASE)).isInstanceOf(GuestRegion.UnfitException.class);
  }

  @Test
  void anAddressThatCannotBeIsRefusedAndNothingIsOverlaid() throws Exception {
    Path file = file(32 * MIB);
    for (long address : new long[] {0, 4096, BASE + 1, -4096, Long.MIN_VALUE, 1L << 47}) {
      assertThatThrownBy(() -> open(file, address))
          .as("%x", address)
          .isInstanceOf(ProtocolException.class);
    }
    GuestRegion one = open(file, BASE);
    assertThatThrownBy(() -> open(file, BASE - Region.CONTROL))
        .isInstanceOf(GuestRegion.UnfitException.class);
    leave(one);
  }

  @Test
  void theGuestCannotChooseWhatIsMapped() throws Exception {
    GuestRegion region = open(file(32 * MIB), BASE);
    assertThat(region.map(16 * MIB, 4096)).isZero();
    for (long length : new long[] {0, -4096, 5, 33 * MIB, Long.MAX_VALUE, Long.MIN_VALUE}) {
      assertThat(region.take(length)).as("%x", length).isZero();
    }
    long taken = region.take(4096);
    assertThat(taken - region.address()).isBetween(Region.CONTROL, 32 * MIB - 4096);
    region.unmap(taken - region.address(), 4096);
    leave(region);
  }
}

package graft.remoting.server.share;

import static org.assertj.core.api.Assertions.assertThat;

import graft.common.grants.Share;
import graft.remoting.server.exchange.LeasePage;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The accounts of guests from one arbiter to the next, and files that no arbiter has written. */
class AccountsTest {
  private static final long SECOND = 1_000_000_000;

  @TempDir Path folder;
  private Path file;
  private final DeviceArbiter first = new DeviceArbiter();

  @BeforeEach
  void nameFile() {
    file = folder.resolve("GPU.accounts");
  }

  /** A session that does nothing. */
  private static final class Resting implements Lease {
    @Override
    public void grant(LeasePage.Queueing queueing) {}

    @Override
    public void announce() {}

    @Override
    public void revoke() {}

    @Override
    public boolean isBusy() {
      return false;
    }

    @Override
    public boolean isWaiting() {
      return false;
    }

    @Override
    public Watchdog watchdog() {
      return Watchdog.NONE;
    }
  }

  private void owe(String name, double lag) {
    first.add(name, Share.DEFAULT, new Resting());
    first.resume(name, lag);
  }

  @Test
  void theNextArbiterGoesOnWithThem() throws IOException {
    owe("tcp://a:1 alice", -3e9);
    owe("tcp://a:1 bob", 5e6);
    owe("tcp://b:1 alice", -1e9);
    Accounts.open(file, 0).write(first, 100 * SECOND);
    DeviceTurns next = new DeviceTurns("GPU", "tcp://a:1", Map.of());
    Accounts last = Accounts.open(file, 100 * SECOND);
    assertThat(last.take("tcp://b:1 alice")).isEqualTo(-SECOND);
    assertThat(last.take("tcp://b:1 alice")).isZero(); // an account is taken over once
    assertThat(last.take("tcp://b:1 carol")).isZero();
    next.lead(last);
    next.admit("tcp://a:1 alice", Share.DEFAULT, new Resting());
    next.admit("tcp://a:1 bob", Share.DEFAULT, new Resting());
    next.tick(101 * SECOND); // writes
    Accounts third = Accounts.open(file, 101 * SECOND);
    assertThat(third.take("tcp://a:1 alice")).isEqualTo(-3 * SECOND);
    assertThat(third.take("tcp://a:1 bob")).isEqualTo(5_000_000);
  }

  @Test
  void theAccountsOfGuestsThatHaveNotComeBackStay() throws IOException {
    owe("a", -3e9);
    Accounts.open(file, 0).write(first, SECOND);
    Accounts.open(file, SECOND).write(new DeviceArbiter(), SECOND);
    assertThat(Accounts.open(file, SECOND).take("a")).isEqualTo(-3 * SECOND);
  }

  @Test
  void debtsAreForgivenWithTime() throws IOException {
    owe("a", -3e9);
    owe("b", -1e9);
    Accounts.open(file, 0).write(first, 10 * SECOND);
    Accounts next = Accounts.open(file, 12 * SECOND);
    assertThat(next.take("a")).isEqualTo(-SECOND);
    assertThat(next.take("b")).isZero();
  }

  @Test
  void accountsOfAnEarlierStartOfTheMachineAreNotTaken() throws IOException {
    owe("a", -3e9);
    Accounts.open(file, 0).write(first, 10 * SECOND);
    assertThat(Accounts.open(file, 9 * SECOND).take("a")).isZero();
  }

  @Test
  void onlyTheOwnerReadsThem() throws IOException {
    Accounts.open(file, 0).write(first, 0);
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
        .isEqualTo("rw-------");
  }

  @Test
  void moreGuestsThanThereIsRoomForAreNotKept() throws IOException {
    for (int i = 0; i < Accounts.MOST + 10; i++) {
      owe("guest-" + i, -SECOND);
    }
    Accounts.open(file, 0).write(first, 0);
    Accounts next = Accounts.open(file, 0);
    int kept = 0;
    for (int i = 0; i < Accounts.MOST + 10; i++) {
      kept += next.take("guest-" + i) == 0 ? 0 : 1;
    }
    assertThat(kept).isEqualTo(Accounts.MOST);
  }

  @Test
  void accountsOutOfRangeAreCut() throws IOException {
    owe("debtor", -SECOND);
    Accounts.open(file, 0).write(first, 0);
    byte[] bytes = Files.readAllBytes(file);
    for (long lag : new long[] {Long.MIN_VALUE, Long.MAX_VALUE, -SECOND * SECOND, SECOND}) {
      ByteBuffer.wrap(bytes).order(ByteOrder.nativeOrder()).putLong(24, lag);
      Files.write(file, bytes);
      assertThat(Accounts.open(file, 0).take("debtor"))
          .isBetween(-Accounts.MOST_DEBT, FairQueue.MOST_CREDIT);
    }
  }

  @Test
  void aFileWithAnythingElseIsAsGoodAsNone() throws IOException {
    Random random = new Random(1);
    for (int i = 0; i < 200; i++) {
      byte[] bytes = new byte[random.nextInt(20_000)];
      random.nextBytes(bytes);
      if (i % 2 == 0 && bytes.length >= 16) {
        ByteBuffer.wrap(bytes)
            .order(ByteOrder.nativeOrder())
            .putLong(0, Accounts.MAGIC)
            .putLong(8, 0);
      }
      Files.write(file, bytes);
      Accounts accounts = Accounts.open(file, i);
      assertThat(accounts.take("a")).isBetween(-Accounts.MOST_DEBT, FairQueue.MOST_CREDIT);
      DeviceTurns turns = new DeviceTurns("GPU", "", Map.of());
      turns.lead(accounts);
      turns.admit("a", Share.DEFAULT, new Resting());
      turns.tick(i);
    }
  }
}

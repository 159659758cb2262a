package graft.remoting.server.pool;

import static org.assertj.core.api.Assertions.assertThat;

import graft.remoting.server.control.DeviceSpec;
import graft.remoting.server.exchange.LeasePage;
import graft.remoting.server.exchange.SessionLimits;
import graft.remoting.server.system.Bytes;
import org.junit.jupiter.api.Test;

/**
 * Handles that sessions export to each other: found only by name and token, and dropped with the
 * exporting session.
 */
final class SharedHandlesTest {
  private static final Bytes TOKEN = token(3);
  private static final Bytes OTHER_TOKEN = token(4);
  private static final Bytes HANDLE = Bytes.of(new byte[] {7});

  private final SharedHandles handles = new SharedHandles();
  private final ServedSession giver = session(1, "alice");

  private static ServedSession session(long id, String name) {
    return new ServedSession(
        id,
        TOKEN,
        new ServedSession.Client(name, "peer", "tcp", "", SessionLimits.NONE),
        DeviceSpec.parse("software"),
        LeasePage.none());
  }

  @Test
  void anotherSessionOfTheSameNameFindsWhatWasGiven() {
    assertThat(handles.put(giver, TOKEN, HANDLE, -1)).isTrue();
    assertThat(handles.find(session(2, "alice"), TOKEN).handle()).isEqualTo(HANDLE);
  }

  @Test
  void aSessionOfAnotherNameFindsNothingEvenWithTheToken() {
    handles.put(giver, TOKEN, HANDLE, -1);
    assertThat(handles.find(session(2, "bob"), TOKEN)).isNull();
  }

  @Test
  void anotherTokenFindsNothing() {
    handles.put(giver, TOKEN, HANDLE, -1);
    assertThat(handles.find(session(2, "alice"), OTHER_TOKEN)).isNull();
  }

  @Test
  void nobodyTakesATokenThatIsTaken() {
    handles.put(giver, TOKEN, HANDLE, -1);
    assertThat(handles.put(session(2, "alice"), TOKEN, Bytes.of(new byte[] {8}), -1)).isFalse();
    assertThat(handles.find(giver, TOKEN).handle()).isEqualTo(HANDLE);
  }

  @Test
  void whatASessionGaveGoesWithIt() {
    ServedSession stays = session(2, "alice");
    handles.put(giver, TOKEN, HANDLE, -1);
    handles.put(stays, OTHER_TOKEN, HANDLE, -1);
    handles.drop(giver);
    assertThat(handles.find(stays, TOKEN)).isNull();
    assertThat(handles.find(stays, OTHER_TOKEN)).isNotNull();
  }

  private static Bytes token(int number) {
    return Bytes.of(java.nio.ByteBuffer.allocate(32).putInt(number).array());
  }

  @Test
  void whatNoSessionGivesIsNotEntered() {
    assertThat(handles.put(giver, Bytes.of(new byte[31]), HANDLE, -1)).isFalse();
    assertThat(handles.put(giver, Bytes.of(new byte[16_000]), HANDLE, -1)).isFalse();
    assertThat(handles.put(giver, TOKEN, Bytes.of(new byte[16_000]), -1)).isFalse();
    assertThat(handles.put(giver, TOKEN, HANDLE, -1)).isTrue();
  }

  @Test
  void oneSessionCannotFillTheServer() {
    int given = 0;
    while (handles.put(giver, token(1000 + given), HANDLE, -1)) {
      given++;
    }
    assertThat(given).isEqualTo(16_384);
    assertThat(handles.put(session(2, "alice"), TOKEN, HANDLE, -1)).isTrue();
  }
}

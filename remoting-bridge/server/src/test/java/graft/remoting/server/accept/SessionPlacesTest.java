package graft.remoting.server.accept;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import graft.common.grants.Grant;
import graft.remoting.server.control.DeviceSpec;
import graft.remoting.server.exchange.LeasePage;
import graft.remoting.server.exchange.SessionLimits;
import graft.remoting.server.pool.ServedSession;
import graft.remoting.server.system.Bytes;
import graft.remoting.server.system.ServerException;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.assertj.core.api.Assertions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

@Execution(ExecutionMode.CONCURRENT)
class SessionPlacesTest {
  private final List<ServedSession> served = new CopyOnWriteArrayList<>();
  private Set<String> names = Set.of();

  private final Grants grants =
      new Grants() {
        @Override
        public Grant of(String name) {
          return grant(name, OptionalInt.empty());
        }

        @Override
        public Set<String> names() {
          return names;
        }
      };

  private SessionPlaces places(int most, int mostOfGuest) {
    return new SessionPlaces(most, mostOfGuest, Duration.ZERO, grants, () -> served);
  }

  private static SessionPlaces.Place reserve(SessionPlaces places, String guest)
      throws IOException, ServerException {
    return places.reserve(grant(guest, OptionalInt.empty()), client(() -> {}));
  }

  private static SessionPlaces.Client client(Runnable waits) {
    return new SessionPlaces.Client() {
      @Override
      public void waits() {
        waits.run();
      }

      @Override
      public void stillWaits(String why) {}
    };
  }

  private static Grant grant(String name, OptionalInt maxSessions) {
    return new Grant(
        name,
        "",
        "",
        "",
        OptionalLong.empty(),
        OptionalLong.empty(),
        maxSessions,
        OptionalInt.empty(),
        OptionalLong.empty(),
        "",
        "",
        false,
        false,
        Optional.empty(),
        OptionalLong.empty());
  }

  private void serve(String guest) {
    served.add(
        new ServedSession(
            served.size() + 1,
            Bytes.of(new byte[32]),
            new ServedSession.Client(guest, "", "tcp", "", SessionLimits.NONE),
            DeviceSpec.parse("echo"),
            LeasePage.none()));
  }

  @Test
  void sessionsThatBeginAndSessionsThatAreServedCount() throws Exception {
    SessionPlaces places = places(2, 2);
    serve("a");
    SessionPlaces.Place place = reserve(places, "b");
    assertThatThrownBy(() -> reserve(places, "c"))
        .hasMessageContaining("its 2 sessions: try later");
    place.close();
    reserve(places, "c");
  }

  @Test
  void aGuestHasItsLimit() throws Exception {
    SessionPlaces places = places(64, 2);
    serve("a");
    reserve(places, "a");
    assertThatThrownBy(() -> reserve(places, "a")).hasMessageContaining("a has its 2 sessions");
    reserve(places, "b");
  }

  @Test
  void aTokenMayHaveALowerLimit() throws Exception {
    SessionPlaces places = places(64, 2);
    Grant one = grant("a", OptionalInt.of(1));
    places.reserve(one, client(() -> {}));
    assertThatThrownBy(() -> places.reserve(one, client(() -> {})))
        .hasMessageContaining("a has its 1 sessions");
    Grant many = grant("b", OptionalInt.of(9));
    places.reserve(many, client(() -> {}));
    places.reserve(many, client(() -> {}));
    assertThatThrownBy(() -> places.reserve(many, client(() -> {})))
        .hasMessageContaining("b has its 2 sessions");
  }

  @Test
  void aGuestsNextSessionWaitsForTheEndOfItsLast() throws Exception {
    SessionPlaces places = places(64, 1);
    serve("a");
    CountDownLatch waits = new CountDownLatch(1);
    CompletableFuture<SessionPlaces.Place> next = new CompletableFuture<>();
    new Thread(
            () -> {
              try {
                next.complete(
                    places.reserve(grant("a", OptionalInt.empty()), client(waits::countDown)));
              } catch (IOException | ServerException e) {
                next.completeExceptionally(e);
              }
            })
        .start();
    waits.await();
    // As many may wait as there are sessions of the guest that could end.
    assertThatThrownBy(
            () -> places.reserve(grant("a", OptionalInt.empty()), client(Assertions::fail)))
        .hasMessageContaining("a has its 1 sessions");
    served.clear();
    places.sessionEnded("a");
    assertThat(next.get(1, TimeUnit.MINUTES)).isNotNull();
  }

  @Test
  void afterAWaitInVainAGuestIsRefusedAtOnceUntilASessionOfItsEnds() throws Exception {
    SessionPlaces places = places(64, 1);
    serve("a");
    AtomicInteger waits = new AtomicInteger();
    Grant guest = grant("a", OptionalInt.empty());
    for (int i = 0; i < 100; i++) {
      assertThatThrownBy(() -> places.reserve(guest, client(waits::incrementAndGet)))
          .hasMessageContaining("a has its 1 sessions");
    }
    assertThat(waits).hasValue(1);
    places.sessionEnded("b");
    assertThatThrownBy(() -> places.reserve(guest, client(Assertions::fail)))
        .hasMessageContaining("a has its 1 sessions");
    places.sessionEnded("a");
    assertThatThrownBy(() -> places.reserve(guest, client(waits::incrementAndGet)))
        .hasMessageContaining("a has its 1 sessions");
    assertThat(waits).hasValue(2);
  }

  @Test
  void aFullServerLetsNobodyWaitWhoHasNoSession() throws Exception {
    SessionPlaces places = places(1, 1);
    serve("a");
    assertThatThrownBy(
            () -> places.reserve(grant("b", OptionalInt.empty()), client(Assertions::fail)))
        .hasMessageContaining("the server has its 1 sessions");
  }

  @Test
  void theLastPlacesAreForGuestsWithoutASession() throws Exception {
    names = Set.of("a", "b", "c");
    SessionPlaces places = places(8, 8);
    for (int i = 0; i < 6; i++) {
      reserve(places, "a");
    }
    assertThatThrownBy(() -> reserve(places, "a")).hasMessageContaining("keeps its last 2 places");
    reserve(places, "b");
    assertThatThrownBy(() -> reserve(places, "b")).hasMessageContaining("keeps its last 1 places");
    reserve(places, "c");
    assertThatThrownBy(() -> reserve(places, "c")).hasMessageContaining("its 8 sessions");
  }

  @Test
  void manyNamesKeepAQuarterAtMost() throws Exception {
    names = Set.of("a", "b", "c", "d", "e", "f");
    SessionPlaces places = places(4, 4);
    for (int i = 0; i < 3; i++) {
      reserve(places, "a");
    }
    assertThatThrownBy(() -> reserve(places, "a")).hasMessageContaining("keeps its last 1 places");
    assertThat(reserve(places, "b")).isNotNull();
  }
}

package graft.remoting.server.accept;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import graft.common.grants.Grant;
import graft.remoting.server.system.ServerException;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Connections that wait for the place of a session: who is next, and who does not wait. */
@Timeout(120)
class WaitingForPlacesTest {
  private static final Duration LONG = Duration.ofMinutes(10);

  /** How many connections may wait for the places of a small server. */
  private static final int QUEUE = 16;

  private final ExecutorService threads = Executors.newCachedThreadPool();

  /** The tokens that are valid now, by name. */
  private final ConcurrentHashMap<String, String> tokens = new ConcurrentHashMap<>();

  private final Grants grants =
      new Grants() {
        @Override
        public Grant of(String name) {
          String token = tokens.get(name);
          return token == null ? null : grant(name, token);
        }

        @Override
        public Set<String> names() {
          return Set.of();
        }
      };

  private Grant grant(String name, String token) {
    return new Grant(
        name,
        token,
        "",
        "",
        OptionalLong.empty(),
        OptionalLong.empty(),
        OptionalInt.empty(),
        OptionalInt.empty(),
        OptionalLong.empty(),
        "",
        "",
        false,
        false,
        Optional.empty(),
        OptionalLong.empty());
  }

  private SessionPlaces places(int most, Duration queueTimeout) {
    return new SessionPlaces(most, most, queueTimeout, grants, List::of);
  }

  private SessionPlaces.Place reserve(SessionPlaces places, String guest)
      throws IOException, ServerException {
    return reserve(places, guest, new Patient());
  }

  private SessionPlaces.Place reserve(
      SessionPlaces places, String guest, SessionPlaces.Client client)
      throws IOException, ServerException {
    tokens.putIfAbsent(guest, "ab".repeat(32));
    return places.reserve(grants.of(guest), client);
  }

  /** Has a connection wait, and returns when it does. */
  private CompletableFuture<SessionPlaces.Place> queue(
      SessionPlaces places, String guest, SessionPlaces.Client client) throws InterruptedException {
    int before = places.waiting().size();
    CompletableFuture<SessionPlaces.Place> place =
        CompletableFuture.supplyAsync(
            () -> {
              try {
                return reserve(places, guest, client);
              } catch (IOException | ServerException e) {
                throw new IllegalStateException(e);
              }
            },
            threads);
    while (places.waiting().size() <= before && !place.isDone()) {
      TimeUnit.MILLISECONDS.sleep(1);
    }
    return place;
  }

  private CompletableFuture<SessionPlaces.Place> queue(SessionPlaces places, String guest)
      throws InterruptedException {
    return queue(places, guest, new Patient());
  }

  private static SessionPlaces.Place got(CompletableFuture<SessionPlaces.Place> place)
      throws Exception {
    return place.get(30, TimeUnit.SECONDS);
  }

  private static class Patient implements SessionPlaces.Client {
    @Override
    public void waits() {}

    @Override
    public void stillWaits(String why) throws IOException {}
  }

  @AfterEach
  void stopThreads() {
    threads.shutdownNow();
  }

  @Test
  void aConnectionWaitsUntilAPlaceIsFree() throws Exception {
    SessionPlaces places = places(1, LONG);
    SessionPlaces.Place first = reserve(places, "a");
    CompletableFuture<SessionPlaces.Place> second = queue(places, "b");
    CompletableFuture<SessionPlaces.Place> third = queue(places, "c");
    assertThat(places.waiting()).containsExactly("b", "c");
    first.close();
    SessionPlaces.Place next = got(second);
    assertThat(third).isNotDone();
    next.close();
    got(third);
    assertThat(places.waiting()).isEmpty();
  }

  @Test
  void aGuestWithManyWaitingConnectionsIsNotServedMoreThanOthers() throws Exception {
    SessionPlaces places = places(4, LONG);
    List<SessionPlaces.Place> held = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      held.add(reserve(places, "holder" + i));
    }
    CompletableFuture<SessionPlaces.Place> first = queue(places, "many");
    CompletableFuture<SessionPlaces.Place> second = queue(places, "many");
    CompletableFuture<SessionPlaces.Place> third = queue(places, "many");
    CompletableFuture<SessionPlaces.Place> one = queue(places, "one");
    held.get(0).close();
    got(first); // of two guests without a session, the one that came first
    held.get(1).close();
    got(one); // then the one that has none, though it came last
    assertThat(second).isNotDone();
    held.get(2).close();
    got(second);
    assertThat(third).isNotDone();
  }

  @Test
  void aGuestAtItsOwnLimitWaitsAndHoldsUpNobody() throws Exception {
    SessionPlaces places = new SessionPlaces(8, 1, LONG, grants, List::of);
    SessionPlaces.Place its = reserve(places, "a");
    CompletableFuture<SessionPlaces.Place> next = queue(places, "a");
    reserve(places, "b");
    assertThat(next).isNotDone();
    its.close();
    got(next);
  }

  @Test
  void theQueueHasALargestLengthAndAFullOneIsFair() throws Exception {
    SessionPlaces places = places(1, LONG);
    reserve(places, "a");
    List<CompletableFuture<SessionPlaces.Place>> flood = new ArrayList<>();
    for (int i = 0; i < QUEUE; i++) {
      flood.add(queue(places, "flood"));
    }
    assertThatThrownBy(() -> reserve(places, "flood")).hasMessageContaining("so is its queue");
    for (int i = 1; i < QUEUE; i++) {
      String guest = "guest" + i;
      CompletableFuture<SessionPlaces.Place> displaced = flood.get(QUEUE - i);
      threads.execute(() -> waitInVain(places, guest));
      assertThatThrownBy(() -> got(displaced))
          .isInstanceOf(ExecutionException.class)
          .hasMessageContaining("so is its queue");
      assertThat(places.waiting()).hasSize(QUEUE).contains("flood", guest);
    }
    assertThat(flood.get(0)).isNotDone();
    assertThatThrownBy(() -> reserve(places, "late")).hasMessageContaining("so is its queue");
  }

  private void waitInVain(SessionPlaces places, String guest) {
    assertThatThrownBy(() -> reserve(places, guest)).isNotNull();
  }

  @Test
  void aWaitThatIsTooLongEndsWithItsReason() throws Exception {
    SessionPlaces places = places(1, Duration.ofMillis(300));
    reserve(places, "a");
    assertThatThrownBy(() -> reserve(places, "b"))
        .hasMessageContaining("the server has its 1 sessions: try later");
    assertThat(places.waiting()).isEmpty();
  }

  @Test
  void aClientIsToldWhyItWaits() throws Exception {
    SessionPlaces places = places(1, LONG);
    SessionPlaces.Place first = reserve(places, "a");
    CompletableFuture<SessionPlaces.Place> second = queue(places, "b");
    CompletableFuture<String> told = new CompletableFuture<>();
    CompletableFuture<SessionPlaces.Place> third =
        queue(
            places,
            "c",
            new Patient() {
              @Override
              public void stillWaits(String why) {
                told.complete(why);
              }
            });
    assertThat(told.get(30, TimeUnit.SECONDS))
        .isEqualTo("the server has its 1 sessions: waiting for a place, after another client");
    assertThat(second).isNotDone();
    assertThat(third).isNotDone();
    first.close();
    got(second);
  }

  @Test
  void aClientThatGoesAwayLeavesTheQueue() throws Exception {
    SessionPlaces places = places(1, LONG);
    SessionPlaces.Place first = reserve(places, "a");
    AtomicBoolean isGone = new AtomicBoolean();
    CompletableFuture<SessionPlaces.Place> gone =
        queue(
            places,
            "b",
            new Patient() {
              @Override
              public void stillWaits(String why) throws IOException {
                if (isGone.get()) {
                  throw new IOException("it has left");
                }
              }
            });
    CompletableFuture<SessionPlaces.Place> patient = queue(places, "c");
    isGone.set(true);
    assertThatThrownBy(() -> got(gone)).hasMessageContaining("it has left");
    assertThat(places.waiting()).containsExactly("c");
    first.close();
    got(patient);
  }

  @Test
  void aTokenThatIsRevokedDuringTheWaitGetsNoPlace() throws Exception {
    SessionPlaces places = places(1, LONG);
    SessionPlaces.Place first = reserve(places, "a");
    CompletableFuture<SessionPlaces.Place> revoked = queue(places, "b");
    CompletableFuture<SessionPlaces.Place> replaced = queue(places, "c");
    CompletableFuture<SessionPlaces.Place> good = queue(places, "d");
    tokens.remove("b");
    tokens.put("c", "cd".repeat(32));
    first.close();
    assertThatThrownBy(() -> got(revoked)).hasMessageContaining("does not know this name");
    assertThatThrownBy(() -> got(replaced)).hasMessageContaining("does not know this name");
    got(good); // the place is not lost
  }

  @Test
  void aServerThatStopsEndsAllWaits() throws Exception {
    SessionPlaces places = places(1, LONG);
    reserve(places, "a");
    CompletableFuture<SessionPlaces.Place> waiting = queue(places, "b");
    threads.shutdownNow();
    assertThatThrownBy(() -> got(waiting)).hasMessageContaining("the server is stopping");
    assertThat(places.waiting()).isEmpty();
  }
}

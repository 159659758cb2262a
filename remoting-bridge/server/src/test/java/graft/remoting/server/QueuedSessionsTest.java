package graft.remoting.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import graft.remoting.server.operate.OperatorClient;
import graft.remoting.server.protocol.HandshakeStatus;
import graft.remoting.server.session.call.Dispatcher;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Clients that wait for a place at a server that is full. */
@Timeout(180)
@Execution(ExecutionMode.CONCURRENT)
class QueuedSessionsTest {
  /** The kind of a new session, with the flag of a client that understands that it has to wait. */
  private static final int HEARS_WAITS = 4 << 16;

  private final ExecutorService threads = Executors.newCachedThreadPool();

  /** How many clients may wait for the places of a small server. */
  private static final int QUEUE = 16;

  @TempDir Path folder;

  @AfterEach
  void stopThreads() {
    threads.shutdownNow();
  }

  private ServerFixture start(int places) throws Exception {
    return ServerFixture.start(
        folder,
        config ->
            config
                .maxSessions(places)
                .queueTimeout(Duration.ofMinutes(10))
                .operator(folder.resolve("operator.sock")));
  }

  private static WireClient.Welcome authenticate(
      WireClient client, String name, byte[] token, int kind) throws IOException {
    return client.authenticate(name, token, Dispatcher.API_HASH, kind, 0, 0);
  }

  /** A connection that waits; its first welcome is complete when it waits no more. */
  private record Waiting(WireClient client, CompletableFuture<WireClient.Welcome> welcome) {}

  private Waiting queue(ServerFixture fixture, String name, byte[] token, int kind)
      throws IOException {
    WireClient client = WireClient.connect(fixture.address());
    return new Waiting(
        client,
        CompletableFuture.supplyAsync(
            () -> {
              try {
                return authenticate(client, name, token, kind);
              } catch (IOException e) {
                throw new IllegalStateException(e);
              }
            },
            threads));
  }

  private List<?> waiting() throws IOException {
    Map<?, ?> server =
        (Map<?, ?>) OperatorClient.sessions(folder.resolve("operator.sock")).get("server");
    return (List<?>) server.get("waiting");
  }

  private void awaitWaiting(Object... guests) throws Exception {
    while (!waiting().equals(List.of(guests))) {
      TimeUnit.MILLISECONDS.sleep(10);
    }
  }

  private static void use(WireClient client) throws IOException {
    assertThat(client.call(EchoBackend.ECHO, 3, new byte[8]).slot()).isEqualTo(3);
  }

  @Test
  void aClientWaitsIsToldSoAndGetsThePlaceOfTheOther() throws Exception {
    try (ServerFixture fixture = start(1)) {
      WireClient alice = fixture.alice();
      Waiting bob = queue(fixture, "bob", ServerFixture.BOB, HEARS_WAITS);
      WireClient.Welcome notice = bob.welcome.get(60, TimeUnit.SECONDS);
      assertThat(notice.status()).isEqualTo(HandshakeStatus.WAITING.code());
      assertThat(notice.message()).isEqualTo("the server has its 1 sessions: waiting for a place");
      awaitWaiting("bob");
      use(alice);
      alice.close();
      WireClient.Welcome welcome = bob.client.nextWelcome();
      while (welcome.status() == HandshakeStatus.WAITING.code()) {
        welcome = bob.client.nextWelcome();
      }
      assertThat(welcome.status()).isZero();
      use(bob.client);
      awaitWaiting();
      bob.client.close();
    }
  }

  @Test
  void aClientThatUnderstandsNoWaitsHearsNothingUntilItHasItsPlace() throws Exception {
    try (ServerFixture fixture = start(1)) {
      WireClient alice = fixture.alice();
      Waiting bob = queue(fixture, "bob", ServerFixture.BOB, 0);
      Waiting hears = queue(fixture, "bob", ServerFixture.BOB, HEARS_WAITS);
      // Both have waited for long enough to be told.
      assertThat(hears.welcome.get(60, TimeUnit.SECONDS).status()).isEqualTo(10);
      awaitWaiting("bob", "bob");
      hears.client.close();
      awaitWaiting("bob");
      assertThat(bob.welcome).isNotDone();
      alice.close();
      assertThat(bob.welcome.get(60, TimeUnit.SECONDS).status()).isZero();
      use(bob.client);
      bob.client.close();
    }
  }

  /** The queue is full of one guest's connections, and strangers come as well. */
  @Test
  void neitherStrangersNorAGuestThatFloodsTheQueueKeepOthersOut() throws Exception {
    int places = 4;
    try (ServerFixture fixture = start(places)) {
      List<WireClient> held = new ArrayList<>();
      for (int i = 0; i < places; i++) {
        held.add(i == 0 ? fixture.bob() : fixture.alice());
      }
      List<Waiting> flood = new ArrayList<>();
      for (int i = 0; i < 100; i++) {
        flood.add(queue(fixture, "alice", ServerFixture.ALICE, 0));
        WireClient stranger = WireClient.connect(fixture.address());
        assertThatThrownBy(
                () ->
                    assertThat(
                            authenticate(stranger, "alice", ServerFixture.token((byte) 99), 0)
                                .status())
                        .isZero())
            .isNotNull();
        stranger.close();
      }
      awaitWaiting(Collections.nCopies(QUEUE, "alice").toArray());
      while (flood.stream().filter(each -> each.welcome.isDone()).count() < 100 - QUEUE) {
        TimeUnit.MILLISECONDS.sleep(10);
      }
      // A guest of the flood is as many sessions ahead, whatever waits for it.
      Waiting bob = queue(fixture, "bob", ServerFixture.BOB, 0);
      held.get(1).close();
      assertThat(bob.welcome.get(60, TimeUnit.SECONDS).status()).isZero();
      use(bob.client);
      for (Waiting each : flood) {
        each.client.close();
      }
      awaitWaiting();
      bob.client.close();
      for (WireClient each : held) {
        each.close();
      }
    }
  }
}

package graft.remoting.server.accept;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import graft.common.grants.Grant;
import graft.remoting.server.control.DeviceSpec;
import graft.remoting.server.pool.ServedSession;
import graft.remoting.server.system.Bytes;
import graft.remoting.server.system.ServerException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class SessionPlacesTest {
  private final List<ServedSession> served = new ArrayList<>();
  private Set<String> names = Set.of();

  private final Grants grants =
      new Grants() {
        @Override
        public Grant of(String name) throws ServerException {
          return Grants.anyone().of(name);
        }

        @Override
        public Set<String> names() {
          return names;
        }
      };

  private SessionPlaces places(int most, int mostOfGuest) {
    return new SessionPlaces(most, mostOfGuest, grants, () -> served);
  }

  private void serve(String guest) {
    served.add(
        new ServedSession(
            served.size() + 1, Bytes.of(new byte[32]), guest, "", DeviceSpec.parse("echo"), ""));
  }

  @Test
  void sessionsThatBeginAndSessionsThatAreServedCount() throws Exception {
    SessionPlaces places = places(2, 2);
    serve("a");
    SessionPlaces.Place place = places.reserve("b");
    assertThatThrownBy(() -> places.reserve("c")).hasMessageContaining("its 2 sessions: try later");
    place.close();
    places.reserve("c");
  }

  @Test
  void aGuestHasItsLimit() throws Exception {
    SessionPlaces places = places(64, 2);
    serve("a");
    places.reserve("a");
    assertThatThrownBy(() -> places.reserve("a")).hasMessageContaining("a has its 2 sessions");
    places.reserve("b");
  }

  @Test
  void theLastPlacesAreForGuestsWithoutASession() throws Exception {
    names = Set.of("a", "b", "c");
    SessionPlaces places = places(8, 8);
    for (int i = 0; i < 6; i++) {
      places.reserve("a");
    }
    assertThatThrownBy(() -> places.reserve("a")).hasMessageContaining("keeps its last 2 places");
    places.reserve("b");
    assertThatThrownBy(() -> places.reserve("b")).hasMessageContaining("keeps its last 1 places");
    places.reserve("c");
    assertThatThrownBy(() -> places.reserve("c")).hasMessageContaining("its 8 sessions");
  }

  @Test
  void manyNamesKeepAQuarterAtMost() throws Exception {
    names = Set.of("a", "b", "c", "d", "e", "f");
    SessionPlaces places = places(4, 4);
    for (int i = 0; i < 3; i++) {
      places.reserve("a");
    }
    assertThatThrownBy(() -> places.reserve("a")).hasMessageContaining("keeps its last 1 places");
    assertThat(places.reserve("b")).isNotNull();
  }
}

package graft.remoting.server.session.call;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import graft.remoting.api.HandleKind;
import graft.remoting.server.session.memory.HostMemory;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

class HandleTableTest {
  @Test
  void behavesLikeAMapUnderRandomUse() {
    Random random = new Random(5);
    HandleTable table = new HandleTable();
    Map<Integer, Long> model = new HashMap<>();
    List<Integer> ids = new ArrayList<>();
    for (int step = 0; step < 300_000; step++) {
      int id = random.nextInt(3) == 0 ? random.nextInt() : random.nextInt(2000);
      switch (random.nextInt(3)) {
        case 0 -> {
          long handle = random.nextLong();
          boolean fits = id != 0 && handle != 0 && !model.containsKey(id);
          assertThat(table.put(id, handle, null)).isEqualTo(fits);
          if (fits) {
            model.put(id, handle);
            ids.add(id);
          }
        }
        case 1 -> {
          int gone =
              ids.isEmpty() || random.nextBoolean() ? id : ids.get(random.nextInt(ids.size()));
          Long expected = model.remove(gone);
          assertThat(table.remove(gone)).isEqualTo(expected == null ? 0 : expected);
        }
        default -> assertThat(table.find(id)).isEqualTo(model.getOrDefault(id, 0L));
      }
    }
    model.forEach((id, handle) -> assertThat(table.find(id)).isEqualTo(handle));
    assertThat(table.all()).hasSize(model.size());
  }

  @Test
  void anObjectThatTheServerFindsKeepsItsId() {
    HandleTables tables = new HandleTables(HostMemory.unlimited());
    tables.put(HandleKind.GRAPH, 5, 0x500);
    assertThat(tables.intern(HandleKind.GRAPH, 0x500)).isEqualTo(5);
    long found = tables.intern(HandleKind.POOL, 0x700);
    assertThat(found).isGreaterThanOrEqualTo(0x80000000L);
    assertThat(tables.intern(HandleKind.POOL, 0x700)).isEqualTo(found);
    assertThat(tables.find(HandleKind.POOL, found)).isEqualTo(0x700);
    assertThat(tables.intern(HandleKind.POOL, 0)).isZero();
  }

  @Test
  void anAddressThatTheDriverUsesAgainIsANewObject() {
    HandleTables tables = new HandleTables(HostMemory.unlimited());
    tables.put(HandleKind.GRAPH, 5, 0x500);
    tables.remove(HandleKind.GRAPH, 5);
    tables.put(HandleKind.GRAPH, 6, 0x500);
    assertThat(tables.intern(HandleKind.GRAPH, 0x500)).isEqualTo(6);
    assertThat(tables.find(HandleKind.GRAPH, 5)).isZero();
  }

  @Test
  void theClientMakesNoIdsOfTheServers() {
    HandleTables tables = new HandleTables(HostMemory.unlimited());
    for (long id : new long[] {0, -1, 0x80000000L, 0xFFFFFFFFL, 1L << 32}) {
      assertThatThrownBy(() -> tables.put(HandleKind.EVENT, id, 1))
          .isInstanceOf(RefusedCallException.class);
    }
  }
}

package graft.remoting.server.session.call;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import graft.remoting.api.Description;
import graft.remoting.api.Function;
import graft.remoting.api.Type;
import graft.remoting.device.CudaDevice;
import graft.remoting.server.MemoryChannel;
import graft.remoting.server.device.GpuDirect;
import graft.remoting.server.exchange.SessionLimits;
import graft.remoting.server.protocol.ProtocolException;
import graft.remoting.server.session.Session;
import graft.remoting.server.session.SessionTerms;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

/**
 * The header of a record says whether bulk data follows. A header that says so of a function
 * without bulk data once let its call reach the device although the checks of its addresses had
 * failed.
 */
class BulkFlagsTest {
  private static final int HAS_BULK = 2;
  private static final int ON_DATA_CONNECTIONS = 4;
  private static final int MOST_WORDS = 40;

  /** Where a program has nothing, so that every check fails. */
  private static final long NOWHERE = 0x1000;

  private final List<String> reached = new ArrayList<>();

  private Session session() {
    CudaDevice device =
        (CudaDevice)
            Proxy.newProxyInstance(
                CudaDevice.class.getClassLoader(),
                new Class<?>[] {CudaDevice.class},
                (proxy, method, arguments) -> {
                  // The checks ask about an address, and change nothing.
                  if (!method.getName().equals("cuPointerGetAttribute")) {
                    reached.add(method.getName());
                  }
                  return 0;
                });
    Session session =
        new Session(
            device,
            new MemoryChannel(new Random(1)),
            SessionTerms.of(SessionLimits.NONE, 0),
            1,
            false,
            GpuDirect.none());
    reached.clear();
    return session;
  }

  private static byte[] record(int function, int flags, int words, long word) {
    ByteBuffer record = ByteBuffer.allocate(16 + 8 * words).order(ByteOrder.LITTLE_ENDIAN);
    record.putInt(record.capacity()).putShort((short) function).putShort((short) flags).putLong(0);
    for (int i = 0; i < words; i++) {
      record.putLong(word);
    }
    return record.array();
  }

  private static boolean takesBulk(Function function) {
    return function.parameters().stream().anyMatch(p -> p.type().kind() == Type.Kind.BULK);
  }

  @Test
  void bulkDataThatAFunctionDoesNotTakeIsRefusedBeforeTheCallIsMade() throws IOException {
    List<Function> functions = Description.load().wire();
    Set<String> decoded = new HashSet<>();
    Session session = session();
    try (GuardedRecord memory = new GuardedRecord(4096)) {
      for (int i = 0; i < functions.size(); i++) {
        if (takesBulk(functions.get(i))) {
          continue;
        }
        String symbol = functions.get(i).symbol();
        for (int words = 0; words <= MOST_WORDS; words++) {
          for (int flags : new int[] {HAS_BULK, ON_DATA_CONNECTIONS, HAS_BULK | 1, 7}) {
            for (long word : new long[] {0, NOWHERE}) {
              try {
                session.execute(memory.put(record(i, flags, words, word)));
                assertThat(symbol).as("is executed with flags %d", flags).isNull();
              } catch (ProtocolException e) {
                if (e.getMessage().contains("bulk data")) {
                  decoded.add(symbol);
                }
              }
            }
          }
        }
        assertThat(reached).as(symbol).isEmpty();
      }
    }
    assertThat(decoded).contains("cuMemcpyDtoD_v2", "cuMemsetD8_v2", "cuMemFree_v2");
    assertThat(decoded.size()).isGreaterThan(functions.size() / 2);
  }

  /** Reading a name that is not there once ended the worker. */
  @Test
  void aProgramWithoutANameIsRefused() throws IOException {
    Session session = session();
    int function = Dispatcher.number("graftProgram_v2");
    try (GuardedRecord memory = new GuardedRecord(4096)) {
      assertThatCode(() -> session.execute(memory.put(record(function, 0, 3, 0))))
          .doesNotThrowAnyException();
      assertThatCode(() -> session.execute(memory.put(record(function, HAS_BULK, 3, 0))))
          .isInstanceOf(ProtocolException.class);
    }
  }
}

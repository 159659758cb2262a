package graft.remoting.server.session.memory;

import static org.assertj.core.api.Assertions.assertThat;

import graft.remoting.device.CudaDevice;
import graft.remoting.device.CudaResult;
import graft.remoting.device.Memory;
import graft.remoting.server.exchange.GuestUse;
import org.junit.jupiter.api.Test;

/** Nodes that are captured into a graph which exists already are counted, with a result or not. */
class HostCountedDeviceTest {
  private static final long GRAPH = 7;
  private static final long STREAM = 8;
  private static final long NODES = 100;

  /** Accepts every call; there is one graph, to which a capture adds as many nodes as it has. */
  private static final class Capturing implements CudaDevice {
    private long nodes = NODES;

    @Override
    public int cuGraphGetNodes(long graph, long array, long count) {
      Memory.putLong(count, nodes);
      return CudaResult.SUCCESS;
    }

    @Override
    public int cuStreamBeginCaptureToGraph(
        long stream, long graph, long dependencies, long edges, long count, int mode) {
      nodes *= 2;
      return CudaResult.SUCCESS;
    }

    @Override
    public int cuStreamEndCapture(long stream, long graph) {
      return CudaResult.SUCCESS;
    }

    @Override
    public int cuGraphDestroy(long graph) {
      return CudaResult.SUCCESS;
    }
  }

  private final HostMemory memory =
      new HostMemory(2 * NODES * HostMemory.OBJECT, GuestUse.unlimited(), which -> {});
  private final HostCountedDevice device = new HostCountedDevice(new Capturing(), memory);

  private int begin() {
    return device.cuStreamBeginCaptureToGraph(STREAM, GRAPH, 0, 0, 0, 0);
  }

  @Test
  void aGuestCapturesNoFurtherOnceItHasTooManyNodes() {
    assertThat(begin()).isZero();
    assertThat(device.cuStreamEndCapture(STREAM, 0)).isZero();
    assertThat(memory.held()).isEqualTo(NODES * HostMemory.OBJECT);
    assertThat(begin()).isZero();
    assertThat(device.cuStreamEndCapture(STREAM, 0)).isZero();
    assertThat(memory.held()).isEqualTo(3 * NODES * HostMemory.OBJECT);
    assertThat(begin()).isEqualTo(CudaResult.OUT_OF_MEMORY);
    device.cuGraphDestroy(GRAPH);
    assertThat(memory.held()).isZero();
    assertThat(begin()).isZero();
  }

  @Test
  void aGraphThatIsGoneWhenItsCaptureEndsIsNotCounted() {
    assertThat(begin()).isZero();
    device.cuGraphDestroy(GRAPH);
    assertThat(device.cuStreamEndCapture(STREAM, 0)).isZero();
    assertThat(memory.held()).isZero();
  }
}

package graft.remoting.server.session.launch;

import static org.assertj.core.api.Assertions.assertThat;

import graft.remoting.device.CudaResult;
import graft.remoting.device.Memory;
import graft.remoting.server.session.code.KernelParameters;
import graft.remoting.server.session.memory.AccountedDevice;
import graft.remoting.server.session.memory.MemoryLimit;
import graft.remoting.server.session.memory.TrackedDevice;
import graft.remoting.server.system.Scratch;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** How the driver gets the parameters of a kernel that is a node of a graph. */
final class GraphNodesTest {
  private static final int NODE = 256;
  private static final int POINTERS = 16 + 40;
  private static final int EXTRA = 16 + 48;

  private static final class Driver extends DriverWithKernels {
    String set = "";

    @Override
    public int cuGraphExecNodeSetParams(long exec, long node, long parameters) {
      long pointers = Memory.getLong(parameters + POINTERS);
      boolean isPacked = Memory.getLong(parameters + EXTRA) != 0;
      set =
          pointers == 0
              ? isPacked ? "packed" : "none"
              : Memory.getLong(Memory.getLong(pointers))
                  + " "
                  + Memory.getInt(Memory.getLong(pointers + 8))
                  + (isPacked ? " and packed" : "");
      return CudaResult.SUCCESS;
    }
  }

  private final Driver driver = new Driver();
  private final GraphNodes nodes =
      new GraphNodes(
          new AccountedDevice(driver, MemoryLimit.of(0)),
          new TrackedDevice(driver),
          new KernelParameters(driver, Set.of()),
          null);

  /** Sets a kernel's node; the record has so many of the twelve bytes of its parameters. */
  private int set(int bytes) {
    try (Scratch node = new Scratch(NODE);
        Scratch parameters = new Scratch(12)) {
      Memory.fill(node.address(), NODE, (byte) 0);
      Memory.putLong(parameters.address(), 41);
      Memory.putInt(parameters.address() + 8, 42);
      long data = bytes == 0 ? 0 : parameters.address();
      return nodes.graftGraphSetNode(null, 1, 2, node.address(), 3, 0, 0, 0, 0, 0, data, bytes, 0);
    }
  }

  @Test
  void aKernelHasItsParametersByPointers() {
    assertThat(set(12)).isZero();
    assertThat(driver.set).isEqualTo("41 42");
  }

  @Test
  void noPointerLeadsBeyondTheParametersThatWereSent() {
    for (int bytes : new int[] {8, 11, -1, Integer.MIN_VALUE}) {
      driver.set = "";
      assertThat(set(bytes)).isZero();
      assertThat(driver.set).as("%d bytes", bytes).isIn("packed", "none");
    }
    assertThat(set(0)).isZero();
    assertThat(driver.set).isEqualTo("none");
  }

  @Test
  void aDriverThatDoesNotKnowTheParametersGetsThemPacked() {
    driver.knowsParameters = false;
    assertThat(set(12)).isZero();
    assertThat(driver.set).isEqualTo("packed");
  }
}

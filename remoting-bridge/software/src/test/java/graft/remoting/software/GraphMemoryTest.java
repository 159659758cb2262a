package graft.remoting.software;

import static org.assertj.core.api.Assertions.assertThat;

import graft.remoting.device.CudaResult;
import graft.remoting.software.memory.Native;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Memory that a graph allocates and frees itself: the same at every launch. */
final class GraphMemoryTest {
  private final TestDevice device = new TestDevice();

  @AfterEach
  void close() {
    device.close();
  }

  private long result(long place) {
    return Native.UNSAFE.getLong(place);
  }

  private long free() {
    long free = device.bytes(8);
    TestDevice.check(device.driver().cuMemGetInfo_v2(free, device.bytes(8)));
    return result(free);
  }

  /** Allocates, fills, copies out and frees, all in a capture. */
  private long capture(long stream, long out) {
    long address = device.bytes(8);
    long graph = device.bytes(8);
    TestDevice.check(device.driver().cuStreamBeginCapture_v2(stream, 0));
    TestDevice.check(device.driver().cuMemAllocAsync(address, 4096, stream));
    TestDevice.check(device.driver().cuMemsetD32Async(result(address), 77, 4, stream));
    TestDevice.check(device.driver().cuMemcpyDtoDAsync_v2(out, result(address), 16, stream));
    TestDevice.check(device.driver().cuMemFreeAsync(result(address), stream));
    TestDevice.check(device.driver().cuStreamEndCapture(stream, graph));
    return result(graph);
  }

  @Test
  void aGraphWithoutMemoryGoesLikeAnyOther() {
    long graph = device.bytes(8);
    TestDevice.check(device.driver().cuGraphCreate(graph, 0));
    TestDevice.check(device.driver().cuGraphDestroy(result(graph)));
  }

  @Test
  void aCapturedAllocationLivesAsLongAsItsGraphs() {
    long before = free();
    long stream = device.bytes(8);
    TestDevice.check(device.driver().cuStreamCreate(stream, 0));
    long out = device.allocate(512);
    long graph = capture(result(stream), out);
    long exec = device.bytes(8);
    TestDevice.check(device.driver().cuGraphInstantiateWithFlags(exec, graph, 0));
    TestDevice.check(device.driver().cuGraphDestroy(graph));
    for (int launch = 0; launch < 3; launch++) {
      TestDevice.check(device.driver().cuMemsetD32_v2(out, 0, 4));
      TestDevice.check(device.driver().cuGraphLaunch(result(exec), result(stream)));
      TestDevice.check(device.driver().cuStreamSynchronize(result(stream)));
      assertThat(device.download(out, 4)).containsExactly(77, 77, 77, 77);
    }
    assertThat(before - free()).isEqualTo(512 + 4096);
    TestDevice.check(device.driver().cuGraphExecDestroy(result(exec)));
    assertThat(before - free()).isEqualTo(512);
  }

  @Test
  void whatNobodyFreedOutlivesTheGraph() {
    long before = free();
    long graph = device.bytes(8);
    long node = device.bytes(8);
    long parameters = device.bytes(120);
    Native.UNSAFE.putLong(parameters + 104, 1024);
    TestDevice.check(device.driver().cuGraphCreate(graph, 0));
    TestDevice.check(device.driver().cuGraphAddMemAllocNode(node, result(graph), 0, 0, parameters));
    long exec = device.bytes(8);
    TestDevice.check(device.driver().cuGraphInstantiateWithFlags(exec, result(graph), 0));
    long address = result(parameters + 112);
    assertThat(device.driver().cuMemFree_v2(address)).isEqualTo(CudaResult.INVALID_VALUE);
    TestDevice.check(device.driver().cuGraphLaunch(result(exec), 0));
    TestDevice.check(device.driver().cuCtxSynchronize());
    TestDevice.check(device.driver().cuGraphDestroy(result(graph)));
    TestDevice.check(device.driver().cuGraphExecDestroy(result(exec)));
    assertThat(before - free()).isEqualTo(1024);
    TestDevice.check(device.driver().cuMemFree_v2(address));
    assertThat(free()).isEqualTo(before);
  }

  @Test
  void whatWasNeverAllocatedGoesWithTheGraph() {
    long before = free();
    long graph = device.bytes(8);
    long parameters = device.bytes(120);
    Native.UNSAFE.putLong(parameters + 104, 1024);
    TestDevice.check(device.driver().cuGraphCreate(graph, 0));
    TestDevice.check(
        device.driver().cuGraphAddMemAllocNode(device.bytes(8), result(graph), 0, 0, parameters));
    TestDevice.check(device.driver().cuGraphDestroy(result(graph)));
    assertThat(free()).isEqualTo(before);
  }
}

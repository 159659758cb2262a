package graft.remoting.server.session.launch;

import static org.assertj.core.api.Assertions.assertThat;

import graft.remoting.device.CudaDevice;
import graft.remoting.device.CudaResult;
import graft.remoting.device.Memory;
import graft.remoting.server.system.Scratch;
import org.junit.jupiter.api.Test;

final class TensorMapCallsTest {
  /** A tensor: its rank, the addresses of its lists, and how many strides the client sent. */
  private record Tensor(int rank, long sizes, long strides, int strideCount) {}

  /**
   * Writes the address that it got to the map, and requires alignment like the driver, and an
   * address of strides also of a tensor that has none.
   */
  private final CudaDevice device =
      new CudaDevice() {
        @Override
        public int cuTensorMapEncodeTiled(
            long map,
            int type,
            int rank,
            long address,
            long sizes,
            long strides,
            long box,
            long steps,
            int interleave,
            int swizzle,
            int promotion,
            int fill) {
          Memory.putLong(map, address);
          return map % 64 == 0 && strides != 0 ? CudaResult.SUCCESS : CudaResult.INVALID_VALUE;
        }

        @Override
        public int cuTensorMapReplaceAddress(long map, long address) {
          Memory.putLong(map + 8, Memory.getLong(map));
          Memory.putLong(map, address);
          return CudaResult.SUCCESS;
        }
      };

  private final TensorMapCalls calls = new TensorMapCalls(device);

  private int tiled(long map, Tensor t, long list) {
    return calls.graftTensorMapTiled(
        null,
        map,
        0,
        t.rank(),
        77,
        t.sizes(),
        t.strides(),
        t.strideCount(),
        list,
        list,
        0,
        0,
        0,
        0);
  }

  @Test
  void theDriverGetsAnAlignedMapWhateverTheReplysPlace() {
    try (Scratch place = new Scratch(256);
        Scratch lists = new Scratch(64)) {
      long list = lists.address();
      Tensor tensor = new Tensor(2, list, list, 1);
      for (int offset : new int[] {0, 8, 24}) {
        long result = place.address() + offset;
        assertThat(tiled(result, tensor, list)).isEqualTo(CudaResult.SUCCESS);
        assertThat(Memory.getLong(result)).isEqualTo(77);
      }
    }
  }

  @Test
  void aTensorOfOneDimensionHasNoStrides() {
    try (Scratch place = new Scratch(128);
        Scratch lists = new Scratch(64)) {
      assertThat(tiled(place.address(), new Tensor(1, lists.address(), 0, 0), lists.address()))
          .isEqualTo(CudaResult.SUCCESS);
    }
  }

  @Test
  void aRankThatItsListsDoNotHaveIsRefused() {
    try (Scratch place = new Scratch(128);
        Scratch lists = new Scratch(64)) {
      long list = lists.address();
      for (Tensor tensor :
          new Tensor[] {
            new Tensor(0, list, list, -1),
            new Tensor(6, list, list, 5),
            new Tensor(3, list, list, 1),
            new Tensor(3, 0, list, 2),
            new Tensor(3, list, 0, 2)
          }) {
        assertThat(tiled(place.address(), tensor, list))
            .as("%s", tensor)
            .isEqualTo(CudaResult.INVALID_VALUE);
      }
    }
  }

  @Test
  void anAddressIsReplacedInTheClientsMap() {
    try (Scratch before = new Scratch(128);
        Scratch after = new Scratch(128)) {
      Memory.putLong(before.address(), 5);
      assertThat(calls.graftTensorMapReplace(null, after.address(), before.address(), 6))
          .isEqualTo(CudaResult.SUCCESS);
      assertThat(Memory.getLong(after.address())).isEqualTo(6);
      assertThat(Memory.getLong(after.address() + 8)).isEqualTo(5);
    }
  }
}

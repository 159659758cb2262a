package graft.remoting.server;

import static org.assertj.core.api.Assertions.assertThat;

import graft.remoting.device.CudaDevice;
import graft.remoting.device.CudaResult;
import graft.remoting.device.Memory;
import org.junit.jupiter.api.Test;

final class TensorMapCallsTest {
  private static final TensorMapCalls.Layout LAYOUT = new TensorMapCalls.Layout(0, 0, 0, 0);

  /** Writes where the map goes into it, as a driver that insists on its alignment. */
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
          return map % 64 == 0 ? CudaResult.SUCCESS : CudaResult.INVALID_VALUE;
        }

        @Override
        public int cuTensorMapReplaceAddress(long map, long address) {
          Memory.putLong(map + 8, Memory.getLong(map));
          Memory.putLong(map, address);
          return CudaResult.SUCCESS;
        }
      };

  private final TensorMapCalls calls = new TensorMapCalls(device);

  @Test
  void theDriverGetsAnAlignedMapWhateverTheReplysPlace() {
    try (Scratch place = new Scratch(256);
        Scratch lists = new Scratch(64)) {
      long list = lists.address();
      TensorMapCalls.Tensor tensor = new TensorMapCalls.Tensor(0, 2, 77, list, list, 1);
      for (int offset : new int[] {0, 8, 24}) {
        long result = place.address() + offset;
        assertThat(calls.tiled(result, tensor, list, list, LAYOUT)).isEqualTo(CudaResult.SUCCESS);
        assertThat(Memory.getLong(result)).isEqualTo(77);
      }
    }
  }

  @Test
  void aRankThatItsListsDoNotHaveIsRefused() {
    try (Scratch place = new Scratch(128);
        Scratch lists = new Scratch(64)) {
      long list = lists.address();
      for (TensorMapCalls.Tensor tensor :
          new TensorMapCalls.Tensor[] {
            new TensorMapCalls.Tensor(0, 0, 77, list, list, -1),
            new TensorMapCalls.Tensor(0, 6, 77, list, list, 5),
            new TensorMapCalls.Tensor(0, 3, 77, list, list, 1),
            new TensorMapCalls.Tensor(0, 3, 77, 0, list, 2),
            new TensorMapCalls.Tensor(0, 3, 77, list, 0, 2)
          }) {
        assertThat(calls.tiled(place.address(), tensor, list, list, LAYOUT))
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
      assertThat(calls.replace(after.address(), before.address(), 6)).isEqualTo(CudaResult.SUCCESS);
      assertThat(Memory.getLong(after.address())).isEqualTo(6);
      assertThat(Memory.getLong(after.address() + 8)).isEqualTo(5);
    }
  }
}

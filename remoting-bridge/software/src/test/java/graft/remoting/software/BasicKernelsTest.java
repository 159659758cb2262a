package graft.remoting.software;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The kernels of {@code basic.cu}, compiled by nvcc. */
final class BasicKernelsTest {
  private TestDevice device;
  private long module;

  @BeforeEach
  void load() {
    device = new TestDevice();
    module = device.load(TestDevice.resource("basic.ptx"));
  }

  @AfterEach
  void close() {
    device.close();
  }

  @Test
  void addsVectors() {
    int n = 1000;
    float[] a = new float[n];
    float[] b = new float[n];
    for (int i = 0; i < n; i++) {
      a[i] = i * 0.5f;
      b[i] = 1000 - i;
    }
    long c = device.allocate(4L * n);
    TestDevice.check(
        device.run(
            device.function(module, "vectorAdd"),
            4,
            256,
            device.upload(a),
            device.upload(b),
            c,
            n));
    float[] sums = device.downloadFloats(c, n);
    for (int i = 0; i < n; i++) {
      assertThat(sums[i]).isEqualTo(a[i] + b[i]);
    }
  }

  @Test
  void runsStridedLoops() {
    int n = 5000;
    float[] x = new float[n];
    float[] y = new float[n];
    for (int i = 0; i < n; i++) {
      x[i] = i;
      y[i] = -i * 0.25f;
    }
    long out = device.upload(y);
    TestDevice.check(
        device.run(device.function(module, "saxpy"), 3, 128, n, 2.5f, device.upload(x), out));
    float[] result = device.downloadFloats(out, n);
    for (int i = 0; i < n; i++) {
      assertThat(result[i]).isEqualTo(Math.fma(2.5f, x[i], y[i]));
    }
  }

  @Test
  void reducesThroughDynamicSharedMemory() {
    int n = 10_000;
    int[] values = new int[n];
    int sum = 0;
    for (int i = 0; i < n; i++) {
      values[i] = i * 7 - 3;
      sum += values[i];
    }
    long in = device.upload(values);
    long out = device.upload(0);
    TestDevice.check(
        device
            .driver()
            .cuLaunchKernel(
                device.function(module, "reduce"),
                (n + 255) / 256,
                1,
                1,
                256,
                1,
                1,
                256 * 4,
                0,
                device.parameters(in, out, n),
                0));
    assertThat(device.download(out, 1)).containsExactly(sum);
  }

  @Test
  void multipliesMatricesInTiles() {
    int n = 64;
    float[] a = new float[n * n];
    float[] b = new float[n * n];
    for (int i = 0; i < n * n; i++) {
      a[i] = i % 13 - 6;
      b[i] = i % 7 * 0.5f;
    }
    long c = device.allocate(4L * n * n);
    TestDevice.check(
        device
            .driver()
            .cuLaunchKernel(
                device.function(module, "matrixMultiply"),
                n / 16,
                n / 16,
                1,
                16,
                16,
                1,
                0,
                0,
                device.parameters(device.upload(a), device.upload(b), c, n),
                0));
    float[] product = device.downloadFloats(c, n * n);
    for (int row = 0; row < n; row++) {
      for (int column = 0; column < n; column++) {
        float expected = 0;
        for (int k = 0; k < n; k++) {
          expected = Math.fma(a[row * n + k], b[k * n + column], expected);
        }
        assertThat(product[row * n + column]).isEqualTo(expected);
      }
    }
  }

  @Test
  void anAccessOutsideAnAllocationFailsTheContextForGood() {
    long small = device.allocate(100);
    long function = device.function(module, "vectorAdd");
    assertThat(device.run(function, 1, 32, small, small, small, 26)).isEqualTo(700);
    assertThat(device.driver().cuCtxSynchronize()).isEqualTo(700);
    assertThat(device.driver().cuMemAlloc_v2(device.bytes(8), 16)).isEqualTo(700);
  }

  @Test
  void anAccessUpToTheLastByteIsAllowed() {
    long small = device.allocate(100);
    TestDevice.check(
        device.run(device.function(module, "vectorAdd"), 1, 32, small, small, small, 25));
  }
}

package graft.remoting.software;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;

/**
 * Prints how fast the software device is: start of a first module, start of a kernel, vector sums
 * and tiled matrix products, the last two next to plain Java loops on the same cores. Run it alone.
 */
public final class Benchmark {
  private static final int ROUNDS = 15;

  private Benchmark() {}

  public static void main(String[] arguments) throws InterruptedException, IOException {
    // The test library's own classes are not to be measured.
    String ptx = TestDevice.resource("basic.ptx");
    TestDevice.check(0);
    long start = System.nanoTime();
    TestDevice device = new TestDevice(SoftwareDeviceConfig.defaults().withMemoryBytes(512L << 20));
    long module = device.load(ptx);
    long vectorAdd = device.function(module, "vectorAdd");
    long little = device.upload(new float[64]);
    TestDevice.check(device.run(vectorAdd, 1, 64, little, little, little, 64));
    System.out.printf(
        "first module: %.0f ms from nothing to the end of its first kernel (aim: under 300)%n",
        milliseconds(start));
    kernelStart(device, vectorAdd, little);
    System.out.printf(
        "resident memory of the process with nothing on the device: %d MiB (aim: under 200)%n",
        residentBytes() >> 20);
    vectorSum(device, vectorAdd);
    matrixProduct(device, device.function(module, "matrixMultiply"));
    device.close();
  }

  private static long residentBytes() throws IOException {
    try (Stream<String> lines = Files.lines(Path.of("/proc/self/status"))) {
      String line = lines.filter(l -> l.startsWith("VmRSS:")).findFirst().orElseThrow();
      return Long.parseLong(line.replaceAll("\\D", "")) << 10;
    }
  }

  private static double milliseconds(long since) {
    return (System.nanoTime() - since) / 1e6;
  }

  private static void kernelStart(TestDevice device, long function, long little) {
    long parameters = device.parameters(little, little, little, 64);
    int warm = 20_000;
    double best = Double.MAX_VALUE;
    for (int round = 0; round < 6; round++) {
      long start = System.nanoTime();
      for (int i = 0; i < warm / 4; i++) {
        device.driver().cuLaunchKernel(function, 1, 1, 1, 64, 1, 1, 0, 0, parameters, 0);
      }
      TestDevice.check(device.driver().cuCtxSynchronize());
      best = Math.min(best, milliseconds(start) * 1000 / (warm / 4));
    }
    System.out.printf("kernel start, one after the other: %.1f us (aim: under 30)%n", best);
    best = Double.MAX_VALUE;
    for (int round = 0; round < 6; round++) {
      long start = System.nanoTime();
      for (int i = 0; i < 1000; i++) {
        device.driver().cuLaunchKernel(function, 1, 1, 1, 64, 1, 1, 0, 0, parameters, 0);
        device.driver().cuCtxSynchronize();
      }
      best = Math.min(best, milliseconds(start));
    }
    System.out.printf("kernel start and wait: %.1f us%n", best);
  }

  private static void vectorSum(TestDevice device, long function) throws InterruptedException {
    int n = 1 << 24;
    long a = device.allocate(4L * n);
    long b = device.allocate(4L * n);
    long c = device.allocate(4L * n);
    for (long p : new long[] {a, b, c}) {
      TestDevice.check(device.driver().cuMemsetD32_v2(p, Float.floatToRawIntBits(1.5f), n));
    }
    double ours = Double.MAX_VALUE;
    for (int i = 0; i < ROUNDS; i++) {
      long start = System.nanoTime();
      TestDevice.check(device.run(function, n / 256, 256, a, b, c, n));
      ours = Math.min(ours, milliseconds(start));
    }
    float[] x = new float[n];
    float[] y = new float[n];
    float[] z = new float[n];
    java.util.Arrays.fill(x, 1.5f);
    java.util.Arrays.fill(y, 1.5f);
    java.util.Arrays.fill(z, 1.5f);
    double java =
        best(
            (from, to) -> {
              for (int i = from; i < to; i++) {
                z[i] = x[i] + y[i];
              }
            },
            n);
    System.out.printf(
        "vector sum of 2^24 floats: %.1f ms, plain Java loop %.1f ms: %.2f of it (aim: 0.3)%n",
        ours, java, java / ours);
    device.driver().cuMemFree_v2(a);
    device.driver().cuMemFree_v2(b);
    device.driver().cuMemFree_v2(c);
  }

  private static void matrixProduct(TestDevice device, long function) throws InterruptedException {
    int n = 512;
    float[] a = new float[n * n];
    float[] b = new float[n * n];
    for (int i = 0; i < n * n; i++) {
      a[i] = i % 17;
      b[i] = i % 19;
    }
    long da = device.upload(a);
    long db = device.upload(b);
    long dc = device.allocate(4L * n * n);
    long parameters = device.parameters(da, db, dc, n);
    double ours = Double.MAX_VALUE;
    for (int i = 0; i < ROUNDS; i++) {
      long start = System.nanoTime();
      TestDevice.check(
          device.driver().cuLaunchKernel(function, 32, 32, 1, 16, 16, 1, 0, 0, parameters, 0));
      TestDevice.check(device.driver().cuCtxSynchronize());
      ours = Math.min(ours, milliseconds(start));
    }
    float[] c = new float[n * n];
    double java =
        best(
            (from, to) -> {
              for (int i = from; i < to; i++) {
                for (int j = 0; j < n; j++) {
                  float sum = 0;
                  for (int k = 0; k < n; k++) {
                    sum += a[i * n + k] * b[k * n + j];
                  }
                  c[i * n + j] = sum;
                }
              }
            },
            n);
    System.out.printf(
        "tiled product of 512x512 matrices: %.0f ms, plain Java triple loop %.0f ms: %.2f of it"
            + " (aim: 0.1)%n",
        ours, java, java / ours);
  }

  private interface Part {
    void run(int from, int to);
  }

  /** Returns the best time of work that is divided among all cores. */
  private static double best(Part part, int n) throws InterruptedException {
    int cores = Runtime.getRuntime().availableProcessors();
    double best = Double.MAX_VALUE;
    for (int round = 0; round < ROUNDS; round++) {
      CountDownLatch done = new CountDownLatch(cores);
      long start = System.nanoTime();
      for (int c = 0; c < cores; c++) {
        int from = (int) ((long) n * c / cores);
        int to = (int) ((long) n * (c + 1) / cores);
        Thread worker =
            new Thread(
                () -> {
                  part.run(from, to);
                  done.countDown();
                });
        worker.setDaemon(true);
        worker.start();
      }
      done.await();
      best = Math.min(best, milliseconds(start));
    }
    return best;
  }
}

package graft.remoting.software.exec;

import graft.remoting.software.memory.DeviceMemory;
import graft.remoting.software.memory.Native;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/** Runs the blocks of grids on the cores of this host. */
public final class GridRunner implements AutoCloseable {
  private static final long STACK_BYTES = 64L << 20;
  private static final int KEPT_BLOCKS = 64;
  private static final int LARGEST_BATCH = 64;

  private final DeviceMemory memory;
  private final int workers;
  private final int multiprocessors;
  private final ThreadPoolExecutor helpers;
  private final KernelOutput output;
  private final TextureTable textures;
  private final Queue<ThreadBlock> spare = new ConcurrentLinkedQueue<>();
  private final AtomicInteger spares = new AtomicInteger();

  /**
   * Creates a runner.
   *
   * @param workers the number of cores to use
   * @param multiprocessors the number of multiprocessors that the device reports
   * @param output receives the text that kernels write
   */
  public GridRunner(
      DeviceMemory memory,
      int workers,
      int multiprocessors,
      TextureTable textures,
      KernelOutput output) {
    this.memory = memory;
    this.workers = workers;
    this.multiprocessors = multiprocessors;
    this.textures = textures;
    this.output = output;
    AtomicInteger number = new AtomicInteger();
    helpers =
        new ThreadPoolExecutor(
            0,
            Integer.MAX_VALUE,
            30,
            TimeUnit.SECONDS,
            new SynchronousQueue<>(),
            task -> {
              Thread t =
                  new Thread(
                      null, task, "software-device-" + number.incrementAndGet(), STACK_BYTES);
              t.setDaemon(true);
              return t;
            });
  }

  int multiprocessors() {
    return multiprocessors;
  }

  TextureTable textures() {
    return textures;
  }

  DeviceMemory memory() {
    return memory;
  }

  KernelOutput output() {
    return output;
  }

  long newGridBarrier() {
    long address = memory.allocate(64, this);
    if (address == 0) {
      throw new DeviceFault(
          DeviceFault.LAUNCH_FAILED, "no memory for the barrier of a cooperative launch");
    }
    Native.UNSAFE.setMemory(address, 64, (byte) 0);
    return address;
  }

  void freeGridBarrier(long address) {
    memory.release(address);
  }

  private ThreadBlock acquire() {
    ThreadBlock found = spare.poll();
    if (found == null) {
      return new ThreadBlock(memory);
    }
    spares.decrementAndGet();
    return found;
  }

  private Cluster acquire(Launch launch, int worker) {
    ThreadBlock[] blocks = new ThreadBlock[launch.clusterSize()];
    for (int i = 0; i < blocks.length; i++) {
      blocks[i] = acquire();
      blocks[i].prepare(launch, worker % multiprocessors);
    }
    return new Cluster(blocks);
  }

  private void giveBack(Cluster cluster) {
    for (ThreadBlock block : cluster.blocks()) {
      if (spares.incrementAndGet() > KEPT_BLOCKS) {
        spares.decrementAndGet();
        block.close();
      } else {
        spare.add(block);
      }
    }
  }

  /** The state that the workers of one launch share. */
  private final class Work {
    final Launch launch;
    final long total;
    final AtomicLong next = new AtomicLong();
    final AtomicLong finished = new AtomicLong();
    final Queue<Cluster> stalled = new ConcurrentLinkedQueue<>();
    final CountDownLatch done = new CountDownLatch(1);

    Work(Launch launch) {
      this.launch = launch;
      this.total = launch.clusters();
    }

    /**
     * Returns how many clusters a worker takes at once: few enough that all workers end at about
     * the same time.
     */
    private long batch() {
      return Math.max(1, Math.min(LARGEST_BATCH, total / workers / 16));
    }

    void work(int worker) {
      Cluster cluster = null;
      int idle = 0;
      long batch = batch();
      long number = 0;
      long batchEnd = 0;
      while (true) {
        if (++number >= batchEnd) {
          number = next.get() < total ? next.getAndAdd(batch) : total;
          batchEnd = Math.min(number + batch, total);
        }
        if (number < total) {
          if (cluster == null) {
            cluster = acquire(launch, worker);
          }
          cluster.start(number);
        } else {
          if (cluster != null) {
            giveBack(cluster);
          }
          cluster = stalled.poll();
          if (cluster == null) {
            return;
          }
        }
        if (runCluster(cluster)) {
          idle = 0;
          if (finished.incrementAndGet() == total) {
            done.countDown();
          }
        } else {
          // The cluster waits for another cluster, which has to run first.
          stalled.add(cluster);
          cluster = null;
          if (++idle > 100) {
            LockSupport.parkNanos(20_000);
          }
        }
      }
    }

    private boolean runCluster(Cluster cluster) {
      if (launch.isAborted()) {
        return true;
      }
      try {
        return cluster.run(launch.code);
      } catch (DeviceFault e) {
        launch.abort(e);
      } catch (StackOverflowError e) {
        launch.abort(new DeviceFault(DeviceFault.ILLEGAL_ADDRESS, "calls nested too deeply"));
      } catch (OutOfMemoryError e) {
        launch.abort(
            new DeviceFault(
                DeviceFault.LAUNCH_FAILED,
                "the server has not enough memory to run a block: " + e.getMessage()));
      } catch (LinkageError | RuntimeException e) {
        launch.abort(
            new DeviceFault(
                DeviceFault.LAUNCH_FAILED, "internal error of the software device: " + e));
      }
      return true;
    }
  }

  /** Runs all blocks of a launch; the calling thread is one of the workers. */
  void run(Launch launch) {
    Work work = new Work(launch);
    int helpersWanted = (int) Math.min(workers, work.total) - 1;
    for (int i = 0; i < helpersWanted; i++) {
      int worker = i + 1;
      helpers.execute(() -> work.work(worker));
    }
    work.work(0);
    boolean interrupted = false;
    while (work.done.getCount() > 0) {
      try {
        work.done.await();
      } catch (InterruptedException e) {
        interrupted = true; // a running block cannot be stopped, so the wait goes on
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public void close() {
    helpers.shutdown();
    for (ThreadBlock b = spare.poll(); b != null; b = spare.poll()) {
      b.close();
    }
  }
}

package graft.remoting.software.exec;

import graft.remoting.software.ir.SyncPoint;

/**
 * Runs the threads of a block to their end. Threads run region by region until all wait; then the
 * threads whose partners have arrived continue.
 */
final class BlockRunner {
  /** The number of rounds in which threads only loop and wait, after which another block runs. */
  private static final int PATIENCE = 64;

  private BlockRunner() {}

  /**
   * Runs a block.
   *
   * @return false if its threads wait for another block and the caller must call again
   */
  static boolean run(ThreadBlock b, KernelCode code) {
    if (!code.synchronizes() && code.intSlots() + code.longSlots() == 0) {
      code.run(b, 0);
      if (b.pc[0] == 0) {
        return true; // with one region, nothing writes the states
      }
    }
    int rounds = 0;
    while (true) {
      int ready = firstReady(b);
      if (ready >= 0) {
        code.run(b, b.pc[ready]);
        continue;
      }
      if (b.launch.isAborted()) {
        return true;
      }
      switch (release(b, code)) {
        case ALL_EXITED -> {
          return true;
        }
        case RELEASED -> rounds = 0;
        case YIELDED -> {
          if (++rounds > PATIENCE) {
            return false;
          }
        }
        default -> throw deadlock(b, code);
      }
    }
  }

  private static DeviceFault deadlock(ThreadBlock b, KernelCode code) {
    StringBuilder message = new StringBuilder("threads wait for each other for ever: ");
    for (int t = 0; t < b.threads; t++) {
      if (b.pc[t] != KernelCode.EXITED) {
        message.append(b.where(t)).append(" at ").append(code.syncPoint(b.pc[t]).kind());
        break;
      }
    }
    return new DeviceFault(DeviceFault.LAUNCH_FAILED, message.toString());
  }

  private static int firstReady(ThreadBlock b) {
    int[] pc = b.pc;
    for (int t = 0; t < b.threads; t++) {
      if (pc[t] >= 0) {
        return t;
      }
    }
    return -1;
  }

  private enum Outcome {
    ALL_EXITED,
    RELEASED,
    YIELDED,
    STUCK
  }

  private static Outcome release(ThreadBlock b, KernelCode code) {
    int[] pc = b.pc;
    int n = b.threads;
    int state = pc[0];
    int same = 1;
    while (same < n && pc[same] == state) {
      same++;
    }
    if (same == n) {
      if (state == KernelCode.EXITED) {
        return Outcome.ALL_EXITED;
      }
      if (code.syncPoint(state).constantBarrier() >= 0
          && b.arrived(code.syncPoint(state).constantBarrier()) == 0) {
        java.util.Arrays.fill(pc, 0, n, code.resume(state));
        return Outcome.RELEASED;
      }
    }
    boolean released = false;
    boolean waiting = false;
    for (int first = 0; first < n; first += 32) {
      int lanes = Math.min(32, n - first);
      int state0 = WarpOperations.release(b, code, first, lanes);
      released |= (state0 & WarpOperations.RELEASED) != 0;
      waiting |= (state0 & WarpOperations.LIVE) != 0;
    }
    if (!waiting && !released) {
      return Outcome.ALL_EXITED;
    }
    released |= releaseBarriers(b, code);
    if (released) {
      return Outcome.RELEASED;
    }
    for (int first = 0; first < n; first += 32) {
      released |= WarpOperations.releaseActive(b, code, first, Math.min(32, n - first));
    }
    if (released) {
      return Outcome.RELEASED;
    }
    boolean yielded = false;
    for (int t = 0; t < n; t++) {
      if (pc[t] != KernelCode.EXITED && code.syncPoint(pc[t]).kind() == SyncPoint.Kind.YIELD) {
        pc[t] = code.resume(pc[t]);
        yielded = true;
      }
    }
    return yielded ? Outcome.YIELDED : Outcome.STUCK;
  }

  private static int barrierOf(ThreadBlock b, SyncPoint point, int thread) {
    if (point.constantBarrier() >= 0) {
      return point.constantBarrier();
    }
    int barrier = b.argument0[thread];
    if (barrier < 0 || barrier > 15) {
      throw new DeviceFault(
          DeviceFault.ILLEGAL_INSTRUCTION, "barrier " + barrier + " does not exist");
    }
    return barrier;
  }

  /**
   * PTX ISA, "bar": a barrier opens when all live threads, or the requested number, have arrived.
   */
  private static boolean releaseBarriers(ThreadBlock b, KernelCode code) {
    int[] pc = b.pc;
    int live = 0;
    int used = 0;
    for (int t = 0; t < b.threads; t++) {
      if (pc[t] != KernelCode.EXITED) {
        live++;
        if (pc[t] < KernelCode.EXITED && code.syncPoint(pc[t]).kind().isBarrier()) {
          used |= 1 << barrierOf(b, code.syncPoint(pc[t]), t);
        }
      }
    }
    boolean released = false;
    for (int barrier = 0; used >>> barrier != 0; barrier++) {
      if ((used >>> barrier & 1) != 0) {
        released |= releaseBarrier(b, code, barrier, live);
      }
    }
    return released;
  }

  private static boolean releaseBarrier(ThreadBlock b, KernelCode code, int barrier, int live) {
    int[] pc = b.pc;
    int there = b.arrived(barrier);
    int wanted = 0;
    int holds = 0;
    int threads = 0;
    for (int t = 0; t < b.threads; t++) {
      if (isAt(b, code, t, barrier)) {
        SyncPoint point = code.syncPoint(pc[t]);
        threads++;
        if (point.constantBarrier() < 0) {
          wanted = Math.max(wanted, b.argument1[t]);
          if (point.kind() != SyncPoint.Kind.BARRIER && b.argument2[t] != 0) {
            holds++;
          }
        }
      }
    }
    there += threads;
    if (there < (wanted == 0 ? live : Math.min(wanted, live + b.arrived(barrier)))) {
      return false;
    }
    for (int t = 0; t < b.threads; t++) {
      if (isAt(b, code, t, barrier)) {
        SyncPoint.Kind kind = code.syncPoint(pc[t]).kind();
        if (kind != SyncPoint.Kind.BARRIER) {
          b.result0[t] =
              kind == SyncPoint.Kind.BARRIER_POPC
                  ? holds
                  : kind == SyncPoint.Kind.BARRIER_AND
                      ? (holds == threads ? 1 : 0)
                      : (holds > 0 ? 1 : 0);
        }
        pc[t] = code.resume(pc[t]);
      }
    }
    b.clearArrived(barrier);
    return true;
  }

  private static boolean isAt(ThreadBlock b, KernelCode code, int t, int barrier) {
    if (b.pc[t] >= KernelCode.EXITED) {
      return false;
    }
    SyncPoint point = code.syncPoint(b.pc[t]);
    return point.kind().isBarrier() && barrierOf(b, point, t) == barrier;
  }
}

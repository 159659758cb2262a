package graft.remoting.software.exec;

import java.nio.charset.StandardCharsets;

/**
 * The functions of CUDA's device runtime that kernels call, and the ways in which kernels end
 * early.
 */
public final class DeviceCalls {
  /** Functions have addresses from here on, 16 apart; there is no memory at these addresses. */
  public static final long FUNCTION_BASE = 0x7f00_0000_0000_0000L;

  private DeviceCalls() {}

  /** The address of a function of a module by its number. */
  public static long functionAddress(int id) {
    return FUNCTION_BASE + 16L * id;
  }

  /** Returns the number of the function at an address, -1 if no function can be there. */
  public static int functionId(long address) {
    long id = address - FUNCTION_BASE;
    return id >= 0 && id < 16L << 24 && (id & 15) == 0 ? (int) (id >> 4) : -1;
  }

  public static void noFunction(ThreadBlock b, int thread, long address) {
    throw new DeviceFault(
        DeviceFault.ILLEGAL_ADDRESS,
        "call of address 0x"
            + Long.toHexString(address)
            + ", which is no function of the module, by "
            + b.where(thread));
  }

  public static void cannotWaitHere(ThreadBlock b, int thread) {
    throw new DeviceFault(
        DeviceFault.LAUNCH_FAILED,
        "the software device cannot wait (barrier, shuffle, vote, exit) inside a function that is"
            + " recursive or called by address; "
            + b.where(thread));
  }

  public static void checkStack(ThreadBlock b, int thread, long end) {
    if (end - b.localBase - (long) thread * b.localStride > b.localStride) {
      throw new DeviceFault(
          DeviceFault.ILLEGAL_ADDRESS,
          "stack overflow: the thread has "
              + b.localStride
              + " bytes (cudaDeviceSetLimit(cudaLimitStackSize) gives more); "
              + b.where(thread));
    }
  }

  public static void trap(ThreadBlock b, int thread) {
    throw new DeviceFault(DeviceFault.LAUNCH_FAILED, "trap by " + b.where(thread));
  }

  public static void breakpoint(ThreadBlock b, int thread) {
    throw new DeviceFault(
        DeviceFault.LAUNCH_FAILED, "breakpoint without a debugger by " + b.where(thread));
  }

  /** int vprintf(const char *format, void *arguments). */
  public static void vprintf(ThreadBlock b, long frame, int thread) {
    long format = Access.loadI64(frame + 16);
    long arguments = Access.loadI64(frame + 32);
    PrintfFormat formatted = new PrintfFormat(new Reader(b, thread));
    byte[] text = formatted.format(format, arguments);
    b.launch.runner.output().standard().accept(text);
    Access.storeI32(frame, formatted.arguments());
  }

  /** Reads memory that a kernel points to, with checks. */
  record Reader(ThreadBlock block, int thread) {
    int i8(long address) {
      return Access.loadU8(Access.generic(block, address, 1, thread));
    }

    int i32(long address) {
      return Access.loadI32(Access.generic(block, address, 4, thread));
    }

    long i64(long address) {
      return Access.loadI64(Access.generic(block, address, 8, thread));
    }

    String text(long address) {
      if (address == 0) {
        return "(null)";
      }
      java.io.ByteArrayOutputStream out = new java.io.ByteArrayOutputStream();
      for (long a = address; i8(a) != 0; a++) {
        out.write(i8(a));
      }
      return out.toString(StandardCharsets.ISO_8859_1);
    }
  }

  /** void *malloc(size_t): from the device's memory. */
  public static void malloc(ThreadBlock b, long frame, int thread) {
    long address = b.memory.allocate(Access.loadI64(frame + 16), DeviceCalls.class);
    Access.storeI64(frame, address);
  }

  /** void free(void *). */
  public static void free(ThreadBlock b, long frame, int thread) {
    long address = Access.loadI64(frame);
    if (address != 0 && !b.memory.release(address, DeviceCalls.class)) {
      throw new DeviceFault(
          DeviceFault.LAUNCH_FAILED,
          "free of 0x"
              + Long.toHexString(address)
              + ", which malloc did not return, by "
              + b.where(thread));
    }
  }

  /** void cudaGraphSetConditional(handle, unsigned value): the handle is the value's address. */
  public static void cudaGraphSetConditional(ThreadBlock b, long frame, int thread) {
    long address = Access.loadI64(frame);
    Access.storeI32(Access.generic(b, address, 4, thread), Access.loadI32(frame + 16));
  }

  /** __assertfail(message, file, line, function, character size). */
  public static void assertFail(ThreadBlock b, long frame, int thread) {
    Reader reader = new Reader(b, thread);
    String text =
        String.format(
            "%s:%d: %s: block: [%d,%d,%d], thread: [%d,%d,%d] Assertion `%s` failed.%n",
            reader.text(Access.loadI64(frame + 16)),
            Access.loadI32(frame + 32),
            reader.text(Access.loadI64(frame + 48)),
            b.ctaidX,
            b.ctaidY,
            b.ctaidZ,
            b.tidX[thread],
            b.tidY[thread],
            b.tidZ[thread],
            reader.text(Access.loadI64(frame)));
    b.launch.runner.output().error().accept(text.getBytes(StandardCharsets.ISO_8859_1));
    throw new DeviceFault(DeviceFault.ASSERT, text.strip());
  }
}

package graft.remoting.software.object;

import com.sun.jna.Function;
import com.sun.jna.Pointer;

/** Calls C functions by their address. JNA is loaded only when a program uses such a function. */
public final class HostCall {
  private HostCall() {}

  private static Function at(long address) {
    return Function.getFunction(new Pointer(address));
  }

  /** void fn(void *userData). */
  public static void run(long function, long userData) {
    at(function).invokeVoid(new Object[] {new Pointer(userData)});
  }

  /** void callback(CUstream stream, CUresult status, void *userData). */
  public static void runCallback(long function, long stream, int status, long userData) {
    at(function).invokeVoid(new Object[] {new Pointer(stream), status, new Pointer(userData)});
  }

  /** size_t blockSizeToDynamicSMemSize(int blockSize). */
  public static long sharedForBlock(long function, int blockSize) {
    return at(function).invokeLong(new Object[] {blockSize});
  }
}

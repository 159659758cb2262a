package graft.remoting.binding;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/**
 * Java's foreign-function interface, final since Java 22, with plain addresses as in {@code
 * JnaBinding}. With {@code -Dgraft.binding=critical} a call does not leave the thread state "in
 * Java". The server cannot use such calls, since one that blocks would hold up the garbage
 * collector; their cost is a lower bound for comparison.
 */
final class FfmBinding implements Binding {
  private static final Linker.Option[] OPTIONS =
      "critical".equals(System.getProperty("graft.binding"))
          ? new Linker.Option[] {Linker.Option.critical(false)}
          : new Linker.Option[0];
  private static final SymbolLookup LIBRARY =
      SymbolLookup.libraryLookup("libcuda.so.1", Arena.global());

  private static final MethodHandle LAUNCH =
      function(
          "cuLaunchKernel",
          JAVA_LONG,
          JAVA_INT,
          JAVA_INT,
          JAVA_INT,
          JAVA_INT,
          JAVA_INT,
          JAVA_INT,
          JAVA_INT,
          JAVA_LONG,
          JAVA_LONG,
          JAVA_LONG);
  private static final MethodHandle COPY =
      function("cuMemcpyHtoDAsync_v2", JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG);
  private static final MethodHandle QUERY = function("cuStreamQuery", JAVA_LONG);

  private final long page = Arena.global().allocate(4096).address();
  private final long parameters;

  FfmBinding() {
    MemorySegment values = Arena.global().allocate(JAVA_LONG, 4);
    MemorySegment addresses = Arena.global().allocate(JAVA_LONG, 4);
    for (int i = 0; i < 4; i++) {
      addresses.setAtIndex(JAVA_LONG, i, values.address() + (long) i * Long.BYTES);
    }
    parameters = addresses.address();
  }

  private static MethodHandle function(String name, ValueLayout... arguments) {
    return Linker.nativeLinker()
        .downcallHandle(
            LIBRARY.find(name).orElseThrow(), FunctionDescriptor.of(JAVA_INT, arguments), OPTIONS);
  }

  @Override
  public int launch() {
    try {
      return (int) LAUNCH.invokeExact(16L, 256, 1, 1, 256, 1, 1, 0, 32L, parameters, 0L);
    } catch (Throwable e) {
      throw new AssertionError(e);
    }
  }

  @Override
  public int copy() {
    try {
      return (int) COPY.invokeExact(64L, page, 4096L, 32L);
    } catch (Throwable e) {
      throw new AssertionError(e);
    }
  }

  @Override
  public int query() {
    try {
      return (int) QUERY.invokeExact(32L);
    } catch (Throwable e) {
      throw new AssertionError(e);
    }
  }
}

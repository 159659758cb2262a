package graft.remoting.software.exec;

import graft.remoting.software.lowering.Program;
import java.util.function.Supplier;

/**
 * A kernel of a loaded module: its code, compiled when it is first launched, and the addresses of
 * its data.
 */
public final class LoadedKernel {
  private final String name;
  private final Program program;
  private final long[] symbols;
  private final Supplier<KernelCode> compiler;
  private volatile KernelCode code;

  /**
   * Creates a kernel.
   *
   * @param symbols the addresses of the symbols that the program uses, by their numbers
   * @param compiler compiles the code, or finds it in a cache
   */
  public LoadedKernel(String name, Program program, long[] symbols, Supplier<KernelCode> compiler) {
    this.name = name;
    this.program = program;
    this.symbols = symbols;
    this.compiler = compiler;
  }

  public String name() {
    return name;
  }

  public Program program() {
    return program;
  }

  long[] symbols() {
    return symbols;
  }

  int dynamicSharedOffset() {
    return program.dynamicSharedOffset();
  }

  int parameterBytes() {
    return program.parameterBytes();
  }

  /** Returns the code, compiled by the first call. */
  public KernelCode code() {
    KernelCode found = code;
    if (found == null) {
      synchronized (this) {
        found = code;
        if (found == null) {
          found = compiler.get();
          code = found;
        }
      }
    }
    return found;
  }
}

package graft.remoting.software.module;

import graft.remoting.software.exec.DeviceCalls;
import graft.remoting.software.exec.LoadedKernel;
import graft.remoting.software.lowering.Program;
import graft.remoting.software.memory.DeviceMemory;
import graft.remoting.software.memory.Native;
import graft.remoting.software.ptx.PtxException;
import graft.remoting.software.ptx.Space;
import graft.remoting.software.ptx.Variable;
import java.util.LinkedHashMap;
import java.util.Map;

/** A module in a context: its variables have addresses, and its kernels can be launched. */
public final class LoadedModule implements AutoCloseable {
  private final DeviceMemory memory;
  private final CompiledModule compiled;
  private final Map<String, Global> globals = new LinkedHashMap<>();
  private final Map<String, LoadedKernel> kernels = new LinkedHashMap<>();

  /** The address and size of a variable. */
  public record Global(long address, long bytes) {}

  /** Thrown when there is not enough device memory for a module's variables. */
  public static final class NoMemoryException extends RuntimeException {
    NoMemoryException(String variable, long bytes) {
      super("no device memory for variable '" + variable + "' of " + bytes + " bytes");
    }
  }

  /**
   * Lays out a module.
   *
   * @throws NoMemoryException if its variables do not fit
   */
  public LoadedModule(DeviceMemory memory, CompiledModule compiled) {
    this.memory = memory;
    this.compiled = compiled;
    try {
      for (Variable v : compiled.ptx().variables()) {
        if (v.space() == Space.GLOBAL || v.space() == Space.CONST) {
          allocate(v);
        }
      }
      for (Variable v : compiled.ptx().variables()) {
        if (globals.containsKey(v.name()) && !v.initial().isEmpty()) {
          initialize(v);
        }
      }
      for (Map.Entry<String, Program> e : compiled.programs().entrySet()) {
        String name = e.getKey();
        kernels.put(
            name,
            new LoadedKernel(name, e.getValue(), symbols(e.getValue()), () -> compiled.code(name)));
      }
    } catch (RuntimeException failed) {
      close();
      throw failed;
    }
  }

  private void allocate(Variable v) {
    if (globals.containsKey(v.name())) {
      return; // declared extern, then defined
    }
    long address = memory.allocate(Math.max(1, v.bytes()), this);
    if (address == 0) {
      throw new NoMemoryException(v.name(), v.bytes());
    }
    Native.UNSAFE.setMemory(address, Math.max(1, v.bytes()), (byte) 0);
    globals.put(v.name(), new Global(address, v.bytes()));
  }

  private void initialize(Variable v) {
    Global global = globals.get(v.name());
    long at = global.address();
    if (v.initial().size() > global.bytes() / v.type().bytes()) {
      throw PtxException.invalid(v.line(), "too many initial values for '" + v.name() + "'");
    }
    for (Variable.Initial initial : v.initial()) {
      long bits = initial.bits();
      if (initial.symbol() != null) {
        bits = address(initial.symbol(), v.line()) + bits >>> initial.shift();
      }
      switch (v.type().bytes()) {
        case 1 -> Native.UNSAFE.putByte(at, (byte) bits);
        case 2 -> Native.UNSAFE.putShort(at, (short) bits);
        case 4 -> Native.UNSAFE.putInt(at, (int) bits);
        default -> Native.UNSAFE.putLong(at, bits);
      }
      at += v.type().bytes();
    }
  }

  private long address(String symbol, int line) {
    Global global = globals.get(symbol);
    if (global != null) {
      return global.address();
    }
    Integer id = compiled.functionId(symbol);
    if (id == null) {
      throw PtxException.invalid(line, "'" + symbol + "' is not defined");
    }
    return DeviceCalls.functionAddress(id);
  }

  private long[] symbols(Program program) {
    long[] addresses = new long[program.symbols().size()];
    program.symbols().forEach((name, number) -> addresses[number] = address(name, 0));
    return addresses;
  }

  /** Kernels by name, in the order of the PTX. */
  public Map<String, LoadedKernel> kernels() {
    return kernels;
  }

  /** Variables by name. */
  public Map<String, Global> globals() {
    return globals;
  }

  /** Frees the memory of the variables. */
  @Override
  public void close() {
    globals.values().forEach(g -> memory.release(g.address()));
  }
}

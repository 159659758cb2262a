package graft.remoting.software.lowering;

import graft.remoting.software.ir.FunctionIr;
import graft.remoting.software.ptx.Function;
import graft.remoting.software.ptx.PtxException;
import graft.remoting.software.ptx.PtxModule;
import graft.remoting.software.ptx.Variable;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A kernel with all functions that it calls, lowered, and the layout of its parameters and shared
 * memory.
 */
public final class Program {
  /** Shared memory for the runtime's own barriers, twice what CUDA's devices reserve. */
  static final int RESERVED_SHARED_BYTES = 2048;

  /**
   * The largest parameters of a kernel, in bytes (CUDA programming guide, "Technical
   * Specifications").
   */
  private static final int LARGEST_PARAMETERS = 32_764;

  /** The offset and size of a kernel parameter in the parameter buffer, in bytes. */
  public record Parameter(int offset, int size) {}

  private final PtxModule module;
  private final SyncAnalysis sync;
  private final FunctionIr kernel;
  private final Function source;
  private final Map<String, FunctionIr> functions = new LinkedHashMap<>();
  private final List<Parameter> parameters = new ArrayList<>();
  private final Map<Variable, Integer> shared = new IdentityHashMap<>();
  private final Map<String, Integer> symbols = new HashMap<>();
  private int sharedBytes;
  private int sharedAlign = 16;
  private int reservedShared = -1;
  private boolean recursive;

  private Program(PtxModule module, SyncAnalysis sync, Function source) {
    this.module = module;
    this.sync = sync;
    this.source = source;
    int offset = 0;
    for (Variable v : source.params()) {
      if (v.bytes() > LARGEST_PARAMETERS || v.align() > LARGEST_PARAMETERS) {
        throw PtxException.invalid(v.line(), "parameter '" + v.name() + "' is too large");
      }
      offset = (offset + v.align() - 1) / v.align() * v.align();
      parameters.add(new Parameter(offset, (int) v.bytes()));
      offset += (int) v.bytes();
      if (offset > LARGEST_PARAMETERS) {
        throw PtxException.invalid(v.line(), "too many bytes of parameters");
      }
    }
    this.kernel = new FunctionLowering(this, source).lower();
  }

  /**
   * Lowers a kernel.
   *
   * @throws PtxException if an instruction is not supported, with its line
   */
  public static Program lower(PtxModule module, SyncAnalysis sync, Function kernel) {
    Program program = new Program(module, sync, kernel);
    program.lowerCallees();
    return program;
  }

  private void lowerCallees() {
    List<FunctionIr> open = new ArrayList<>(List.of(kernel));
    while (!open.isEmpty()) {
      FunctionIr next = open.remove(open.size() - 1);
      List<String> callees = new ArrayList<>(next.callees());
      if (next.callsByAddress()) {
        // A call by address may call any function whose address is taken.
        callees.addAll(sync.addressTaken());
        recursive = true;
      }
      recursive |= next.callees().stream().anyMatch(sync::isRecursive);
      for (String name : callees) {
        if (!functions.containsKey(name)) {
          FunctionIr lowered = new FunctionLowering(this, function(name, source.line())).lower();
          functions.put(name, lowered);
          open.add(lowered);
        }
      }
    }
  }

  PtxModule module() {
    return module;
  }

  SyncAnalysis sync() {
    return sync;
  }

  Function function(String name, int line) {
    Function f = module.functions().get(module.aliases().getOrDefault(name, name));
    if (f == null || f.body() == null) {
      throw PtxException.invalid(line, "function '" + name + "' is called but not defined");
    }
    return f;
  }

  public FunctionIr kernel() {
    return kernel;
  }

  /** Returns the launch bounds of the kernel in the PTX. */
  public Function.LaunchBounds launchBounds() {
    return source.launch();
  }

  /** Returns the called functions by name, without the kernel. */
  public Map<String, FunctionIr> functions() {
    return functions;
  }

  public List<Parameter> parameters() {
    return parameters;
  }

  /** Size of the parameter buffer in bytes. */
  public int parameterBytes() {
    return parameters.isEmpty()
        ? 0
        : parameters.get(parameters.size() - 1).offset()
            + parameters.get(parameters.size() - 1).size();
  }

  /** Offset of a shared variable of known size. */
  int sharedOffset(Variable variable) {
    return shared.computeIfAbsent(variable, v -> allocateShared(v.bytes(), v.align(), v.line()));
  }

  /**
   * Returns the offset of the shared memory that PTX calls reserved (%reserved_smem_offset_begin).
   */
  int reservedShared() {
    if (reservedShared < 0) {
      reservedShared = allocateShared(RESERVED_SHARED_BYTES, 128, source.line());
    }
    return reservedShared;
  }

  private int allocateShared(long bytes, int align, int line) {
    sharedAlign = Math.max(sharedAlign, align);
    long offset = ((long) sharedBytes + align - 1) / align * align;
    if (offset + bytes > 1 << 20) {
      throw PtxException.invalid(line, "more than 1 MiB of static shared memory");
    }
    sharedBytes = (int) (offset + bytes);
    return (int) offset;
  }

  void alignDynamicShared(int align) {
    sharedAlign = Math.max(sharedAlign, align);
  }

  /**
   * Bytes of static shared memory; dynamic shared memory starts at {@link #dynamicSharedOffset}.
   */
  public int sharedBytes() {
    return sharedBytes;
  }

  /** Where dynamic shared memory starts. */
  public int dynamicSharedOffset() {
    return (sharedBytes + sharedAlign - 1) / sharedAlign * sharedAlign;
  }

  /** Numbers of the module variables and functions whose addresses the program uses, by name. */
  public Map<String, Integer> symbols() {
    return symbols;
  }

  void useSymbol(String name) {
    symbols.putIfAbsent(name, symbols.size());
  }

  /** Returns whether the depth of the call stack is unknown. */
  public boolean isRecursive() {
    return recursive;
  }

  /**
   * Returns the deepest stack of a thread in bytes, if calls are not recursive: the sum of all
   * frames.
   */
  public int stackBytes() {
    long sum = kernel.frameBytes() + 16L;
    for (FunctionIr f : functions.values()) {
      sum += f.frameBytes() + 16L;
    }
    return (int) Math.min(sum + 15 & ~15L, 512 << 10);
  }
}

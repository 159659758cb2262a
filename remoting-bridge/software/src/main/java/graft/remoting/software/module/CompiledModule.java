package graft.remoting.software.module;

import graft.remoting.software.codegen.KernelCompiler;
import graft.remoting.software.exec.KernelCode;
import graft.remoting.software.lowering.Program;
import graft.remoting.software.lowering.SyncAnalysis;
import graft.remoting.software.ptx.Function;
import graft.remoting.software.ptx.PtxModule;
import graft.remoting.software.ptx.PtxParser;
import java.lang.ref.SoftReference;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A module before it is loaded: everything that depends only on the PTX, cached by the PTX's text.
 */
public final class CompiledModule {
  private static final Map<String, SoftReference<CompiledModule>> CACHE = new ConcurrentHashMap<>();

  private final PtxModule ptx;
  private final Map<String, Program> programs = new LinkedHashMap<>();
  private final Map<String, Integer> functionIds = new HashMap<>();
  private final Map<String, KernelCode> code = new ConcurrentHashMap<>();

  private CompiledModule(String text) {
    ptx = PtxParser.parse(text);
    SyncAnalysis sync = new SyncAnalysis(ptx);
    for (Function f : ptx.functions().values()) {
      functionIds.put(f.name(), functionIds.size() + 1);
      if (f.entry() && f.body() != null) {
        programs.put(f.name(), Program.lower(ptx, sync, f));
      }
    }
  }

  /**
   * Parses and lowers a module, so that unsupported code is reported before anything runs.
   *
   * @throws graft.remoting.software.ptx.PtxException naming the line that is invalid or not
   *     supported
   */
  public static CompiledModule of(String text) {
    SoftReference<CompiledModule> known = CACHE.get(text);
    CompiledModule found = known == null ? null : known.get();
    if (found == null) {
      CACHE.values().removeIf(r -> r.get() == null);
      found = new CompiledModule(text);
      CACHE.put(text, new SoftReference<>(found));
    }
    return found;
  }

  /** Names of the kernels, in the order of the PTX. */
  public Set<String> kernelNames() {
    return programs.keySet();
  }

  /** The architecture that the PTX was made for, as 75 for {@code sm_75}. */
  public int architecture() {
    String digits = ptx.target().replaceAll("[^0-9]", "");
    return digits.isEmpty() || digits.length() > 4 ? 0 : Integer.parseInt(digits);
  }

  /** A kernel as lowered. */
  public Program program(String kernel) {
    return programs.get(kernel);
  }

  PtxModule ptx() {
    return ptx;
  }

  Map<String, Program> programs() {
    return programs;
  }

  /** The number of a function, by which its address is made. */
  Integer functionId(String name) {
    return functionIds.get(name);
  }

  KernelCode code(String kernel) {
    return code.computeIfAbsent(kernel, k -> KernelCompiler.compile(programs.get(k), functionIds));
  }
}

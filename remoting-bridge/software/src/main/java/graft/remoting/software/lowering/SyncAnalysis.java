package graft.remoting.software.lowering;

import graft.remoting.software.ptx.Function;
import graft.remoting.software.ptx.Operand;
import graft.remoting.software.ptx.PtxModule;
import graft.remoting.software.ptx.Statement;
import graft.remoting.software.ptx.Variable;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Finds the functions that must be inlined into the kernel that calls them: functions in which a
 * thread may wait for others, because only a kernel can be left and entered again at such a point,
 * and very long functions.
 */
public final class SyncAnalysis {
  private static final int LONG_FUNCTION = 700;

  private final Map<String, Set<String>> calls = new HashMap<>();
  private final Set<String> inlined = new HashSet<>();
  private final Set<String> recursive = new HashSet<>();
  private final Set<String> addressTaken = new LinkedHashSet<>();

  public SyncAnalysis(PtxModule module) {
    Set<String> waiting = new HashSet<>();
    for (Function f : module.functions().values()) {
      if (f.body() == null) {
        continue;
      }
      Set<String> callees = new HashSet<>();
      calls.put(f.name(), callees);
      for (Statement s : f.body()) {
        if (s instanceof Statement.Instruction i) {
          scan(module, i, callees);
          if (waits(i)) {
            waiting.add(f.name());
          }
        }
      }
      if (f.body().size() > LONG_FUNCTION) {
        waiting.add(f.name());
      }
    }
    for (Variable v : module.variables()) {
      for (Variable.Initial initial : v.initial()) {
        if (initial.symbol() != null && calls.containsKey(initial.symbol())) {
          addressTaken.add(initial.symbol());
        }
      }
    }
    for (String name : calls.keySet()) {
      Set<String> reached = reachable(name);
      if (reached.contains(name)) {
        recursive.add(name);
      } else if (waiting.contains(name) || reached.stream().anyMatch(waiting::contains)) {
        inlined.add(name);
      }
    }
  }

  private void scan(PtxModule module, Statement.Instruction i, Set<String> callees) {
    Set<String> named = i.opcode().equals("call") ? callees : addressTaken;
    for (Operand o : i.operands()) {
      if (o instanceof Operand.Name n
          && n.scope().find(n.name()) instanceof Function f
          && !f.entry()) {
        named.add(module.aliases().getOrDefault(f.name(), f.name()));
      }
    }
  }

  private Set<String> reachable(String from) {
    Set<String> seen = new HashSet<>();
    List<String> open = new java.util.ArrayList<>(calls.getOrDefault(from, Set.of()));
    while (!open.isEmpty()) {
      String next = open.remove(open.size() - 1);
      if (seen.add(next)) {
        open.addAll(calls.getOrDefault(next, Set.of()));
      }
    }
    return seen;
  }

  private static boolean waits(Statement.Instruction i) {
    return switch (i.opcode()) {
      case "bar",
          "barrier",
          "shfl",
          "vote",
          "match",
          "redux",
          "activemask",
          "elect",
          "exit",
          "nanosleep" ->
          true;
      // A lock: compare-and-swap or exchange in a loop.
      case "atom" -> i.has(".cas") || i.has(".exch");
      case "ld" -> i.has(".volatile") || i.has(".acquire") || i.has(".relaxed");
      case "mbarrier" -> true;
      default -> MatrixLowering.waits(i.opcode());
    };
  }

  /** Whether calls of the function are replaced by its body. */
  public boolean isInlined(String function) {
    return inlined.contains(function);
  }

  /** Whether the function may call itself, directly or through others. */
  public boolean isRecursive(String function) {
    return recursive.contains(function);
  }

  /** Returns the functions that a call by address may reach. */
  public Set<String> addressTaken() {
    return addressTaken;
  }
}

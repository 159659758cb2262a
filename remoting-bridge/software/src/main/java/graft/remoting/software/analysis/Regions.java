package graft.remoting.software.analysis;

import graft.remoting.software.ir.BasicBlock;
import graft.remoting.software.ir.Expr;
import graft.remoting.software.ir.FunctionIr;
import graft.remoting.software.ir.Node;
import graft.remoting.software.ir.Terminator;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.IdentityHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Divides a kernel into regions. A region is code that a thread runs without stopping: it is
 * entered at one block and ends at synchronization points, at the end of the thread, or at the
 * entry of another region. Each region becomes one method that runs all threads of a block, so that
 * the JVM compiles a plain loop.
 *
 * <p>A block that several regions reach is duplicated in each of them while that is cheap;
 * otherwise it becomes the entry of a region. Regions also keep methods below the size up to which
 * the JVM compiles them.
 */
public final class Regions {
  /** Estimated bytes of bytecode of a region; HotSpot does not compile methods over 8000. */
  private static final int LARGEST = 5200;

  private static final int LARGEST_BLOCK = 2400;

  /**
   * One region.
   *
   * @param id its number; 0 is where a thread starts
   * @param entry where it is entered
   * @param blocks its blocks in reverse post-order, the entry first
   */
  public record Region(int id, BasicBlock entry, List<BasicBlock> blocks) {}

  private final FunctionIr ir;
  private final Set<BasicBlock> entries = new LinkedHashSet<>();
  private final List<Region> regions = new ArrayList<>();
  private final Map<BasicBlock, Integer> ids = new IdentityHashMap<>();

  public Regions(FunctionIr ir) {
    this.ir = ir;
    splitLongBlocks();
    entries.add(ir.start());
    for (BasicBlock b : ir.blocks()) {
      if (b.end() instanceof Terminator.Sync sync) {
        entries.add(sync.next());
      }
    }
    while (refine()) {
      // Each round adds entries, of which there are at most as many as blocks.
    }
    for (BasicBlock e : entries) {
      ids.put(e, regions.size());
      regions.add(new Region(regions.size(), e, reach(e)));
    }
  }

  public List<Region> regions() {
    return regions;
  }

  /** The region that a block is the entry of, or -1. */
  public int idOf(BasicBlock block) {
    return ids.getOrDefault(block, -1);
  }

  private void splitLongBlocks() {
    boolean split = false;
    for (BasicBlock b : ir.blocks()) {
      BasicBlock at = b;
      int weight = 0;
      for (int i = 0; i < at.nodes().size(); i++) {
        weight += weight(at.nodes().get(i));
        if (weight > LARGEST_BLOCK && i + 1 < at.nodes().size()) {
          BasicBlock rest = new BasicBlock();
          List<Node> moved = at.nodes().subList(i + 1, at.nodes().size());
          rest.nodes().addAll(moved);
          moved.clear();
          rest.setEnd(at.end());
          at.setEnd(new Terminator.Jump(rest));
          at = rest;
          i = -1;
          weight = 0;
          split = true;
        }
      }
    }
    if (split) {
      ir.order();
    }
  }

  /** Adds entries. Returns false if no more are needed. */
  private boolean refine() {
    Map<BasicBlock, Integer> owners = new IdentityHashMap<>();
    List<BasicBlock> wanted = new ArrayList<>();
    long total = 0;
    for (BasicBlock e : entries) {
      List<BasicBlock> blocks = reach(e);
      int weight = 0;
      BasicBlock cut = null;
      for (BasicBlock b : blocks) {
        owners.merge(b, 1, Integer::sum);
        weight += weight(b);
        if (cut == null && b != e && weight > LARGEST / 2) {
          cut = b;
        }
      }
      total += weight;
      if (weight > LARGEST && cut != null) {
        wanted.add(cut);
      }
    }
    long original = 0;
    for (BasicBlock b : ir.blocks()) {
      original += weight(b);
    }
    if (wanted.isEmpty() && total > 2 * original + 1500) {
      BasicBlock best = null;
      long most = -1;
      for (Map.Entry<BasicBlock, Integer> o : owners.entrySet()) {
        if (o.getValue() > 1 && !entries.contains(o.getKey())) {
          long saved = 0;
          for (BasicBlock b : reach(o.getKey())) {
            saved += weight(b);
          }
          saved *= o.getValue() - 1;
          if (saved > most) {
            most = saved;
            best = o.getKey();
          }
        }
      }
      if (best != null) {
        wanted.add(best);
      }
    }
    return entries.addAll(wanted);
  }

  /**
   * Returns the blocks reachable from an entry without passing another entry, in reverse
   * post-order.
   */
  private List<BasicBlock> reach(BasicBlock entry) {
    Set<BasicBlock> seen = java.util.Collections.newSetFromMap(new IdentityHashMap<>());
    Deque<BasicBlock> open = new ArrayDeque<>();
    seen.add(entry);
    open.push(entry);
    while (!open.isEmpty()) {
      BasicBlock b = open.pop();
      if (b.end() instanceof Terminator.Sync) {
        continue;
      }
      for (BasicBlock s : Terminator.successors(b.end())) {
        if (!entries.contains(s) && seen.add(s)) {
          open.push(s);
        }
      }
    }
    List<BasicBlock> result = new ArrayList<>(seen);
    result.sort(
        (a, b) -> a == entry ? (b == entry ? 0 : -1) : b == entry ? 1 : a.index() - b.index());
    return result;
  }

  private static int weight(BasicBlock b) {
    int sum = 8;
    for (Node n : b.nodes()) {
      sum += weight(n);
    }
    return sum;
  }

  private static int weight(Node node) {
    if (node instanceof Node.Assign a) {
      return 3 + weight(a.value());
    }
    if (node instanceof Node.Effect e) {
      return 1 + weight(e.value());
    }
    if (node instanceof Node.Guarded g) {
      return 6 + g.body().stream().mapToInt(Regions::weight).sum();
    }
    return 20;
  }

  private static int weight(Expr expr) {
    if (expr instanceof Expr.Apply a) {
      return 1 + a.arguments().stream().mapToInt(Regions::weight).sum();
    }
    if (expr instanceof Expr.Invoke v) {
      int own = v.name().equals("global") ? 38 : 4;
      return own + v.arguments().stream().mapToInt(Regions::weight).sum();
    }
    if (expr instanceof Expr.Compare c) {
      return 9 + weight(c.left()) + weight(c.right());
    }
    if (expr instanceof Expr.Select s) {
      return 9 + weight(s.condition()) + weight(s.yes()) + weight(s.no());
    }
    return 3;
  }
}

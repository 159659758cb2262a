package graft.remoting.software.ir;

import graft.remoting.software.ptx.PtxType;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.IdentityHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** A lowered kernel or device function. */
public final class FunctionIr {
  private final String name;
  private final boolean entry;
  private final int line;
  private final List<Register> registers = new ArrayList<>();
  private final List<SyncPoint> syncPoints = new ArrayList<>();
  private final Set<String> callees = new LinkedHashSet<>();
  private final BasicBlock start = new BasicBlock();
  private List<BasicBlock> blocks = List.of();
  private int frameBytes;
  private boolean callsByAddress;
  private boolean usesMatrices;

  public FunctionIr(String name, boolean entry, int line) {
    this.name = name;
    this.entry = entry;
    this.line = line;
  }

  public String name() {
    return name;
  }

  /** The line of the PTX text that it starts on. */
  public int line() {
    return line;
  }

  /** True for a kernel. */
  public boolean isEntry() {
    return entry;
  }

  public List<Register> registers() {
    return registers;
  }

  public List<SyncPoint> syncPoints() {
    return syncPoints;
  }

  /** Functions that are called by name. */
  public Set<String> callees() {
    return callees;
  }

  /** True if a function is called by address. */
  public boolean callsByAddress() {
    return callsByAddress;
  }

  public void setCallsByAddress() {
    callsByAddress = true;
  }

  /** Returns whether the function has matrix instructions (wmma, mma, ldmatrix and similar). */
  public boolean usesMatrices() {
    return usesMatrices;
  }

  public void setUsesMatrices() {
    usesMatrices = true;
  }

  /** CUDA's limit of local memory for a thread, in bytes. */
  public static final int LARGEST_FRAME = 512 << 10;

  /** Bytes of local memory: local variables and outgoing arguments. */
  public int frameBytes() {
    return frameBytes;
  }

  /** Allocates bytes of the frame and returns their offset. */
  public int allocateFrame(long bytes, int align, int line) {
    long offset = ((long) frameBytes + align - 1) / align * align;
    if (offset + bytes > LARGEST_FRAME) {
      throw graft.remoting.software.ptx.PtxException.invalid(
          line, "more than 512 KiB of local memory");
    }
    frameBytes = (int) (offset + bytes);
    return (int) offset;
  }

  public BasicBlock start() {
    return start;
  }

  /** Reachable blocks in reverse post-order; the first is the start. */
  public List<BasicBlock> blocks() {
    return blocks;
  }

  public Register register(String registerName, PtxType type) {
    Register made = new Register(registers.size(), registerName, type);
    registers.add(made);
    return made;
  }

  public SyncPoint syncPoint(SyncPoint.Kind kind, int constantBarrier) {
    return add(new SyncPoint(syncPoints.size(), kind, constantBarrier, null));
  }

  public SyncPoint syncPoint(SyncPoint.Kind kind, MatrixOperation matrix) {
    return add(new SyncPoint(syncPoints.size(), kind, -1, matrix));
  }

  private SyncPoint add(SyncPoint made) {
    syncPoints.add(made);
    return made;
  }

  /** Computes the reverse post-order. Call again after blocks were added. */
  public void order() {
    List<BasicBlock> post = new ArrayList<>();
    Map<BasicBlock, Integer> visited = new IdentityHashMap<>();
    Deque<BasicBlock> stack = new ArrayDeque<>();
    stack.push(start);
    visited.put(start, 0);
    while (!stack.isEmpty()) {
      BasicBlock top = stack.peek();
      List<BasicBlock> next = Terminator.successors(top.end());
      int i = visited.get(top);
      if (i == next.size()) {
        stack.pop();
        post.add(top);
      } else {
        visited.put(top, i + 1);
        // The successor that is visited last comes first in the final order, as the fall-through.
        BasicBlock successor = next.get(i);
        if (!visited.containsKey(successor)) {
          visited.put(successor, 0);
          stack.push(successor);
        }
      }
    }
    Collections.reverse(post);
    for (int i = 0; i < post.size(); i++) {
      post.get(i).setIndex(i);
    }
    blocks = post;
  }
}

package graft.remoting.software.codegen;

import graft.remoting.software.analysis.Liveness;
import graft.remoting.software.analysis.Regions;
import graft.remoting.software.ir.FunctionIr;
import graft.remoting.software.ir.Kind;
import graft.remoting.software.ir.Register;
import java.util.BitSet;
import java.util.HashMap;
import java.util.Map;

/**
 * The positions of the registers that are live at the entry of a region, between runs: in the
 * thread block's array for words of 32 bits or in the array for 64 bits.
 */
final class RegisterSlots {
  private final Map<Register, Integer> slots = new HashMap<>();
  private int intSlots;
  private int longSlots;

  RegisterSlots(FunctionIr kernel, Regions regions, Liveness liveness) {
    for (Regions.Region r : regions.regions()) {
      BitSet live = liveness.atStart(r.entry());
      for (int i = live.nextSetBit(0); r.id() > 0 && i >= 0; i = live.nextSetBit(i + 1)) {
        slots.computeIfAbsent(kernel.registers().get(i), x -> isLong(x) ? longSlots++ : intSlots++);
      }
    }
  }

  static boolean isLong(Register r) {
    return r.kind() == Kind.LONG || r.kind() == Kind.DOUBLE;
  }

  int of(Register r) {
    return slots.get(r);
  }

  int ints() {
    return intSlots;
  }

  int longs() {
    return longSlots;
  }
}

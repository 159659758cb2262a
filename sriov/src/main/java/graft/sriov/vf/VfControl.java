package graft.sriov.vf;

import graft.sriov.VfSettings;
import java.util.List;
import java.util.Map;

/** Reads and sets what one PF keeps for its VFs. */
public interface VfControl {

  /** By which way. */
  VfWay way();

  /** What the driver says now, by index; what it says nothing of, or 0, is empty. */
  List<VfSettings> read();

  /** Sets what is asked for and what this way can set; throws when the kernel refuses. */
  void set(int vf, VfSettings wanted);

  /** The present settings of a VF, as text that {@link #restore} understands. */
  default Map<String, String> capture(int vf) {
    List<VfSettings> all = read();
    return vf < all.size() ? all.get(vf).toMap() : Map.of();
  }

  /** Sets again what {@link #capture} gave; what was unknown then stays as it is. */
  default void restore(int vf, Map<String, String> captured) {
    List<VfSettings> all = read();
    if (vf < all.size()) {
      VfSettings missing = VfSettings.fromMap(captured).notIn(all.get(vf));
      if (!missing.isEmpty()) {
        set(vf, missing);
      }
    }
  }
}

package graft.sriov.vf;

import graft.sriov.VfSettings;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The way by which one PF takes the settings of its VFs. */
public interface VfControl {

  /** {@code netlink on ibp59s0}, {@code files of the out-of-tree driver}: for plans and errors. */
  String name();

  /** Which of the settings this way can set; the others are empty in the result. */
  VfSettings able(VfSettings wanted);

  /**
   * Why {@code wanted} cannot be set by this way, as a sentence; empty when it can.
   *
   * <p>A node GUID beside a port GUID where there are only port GUIDs (mlx4) is no reason: the node
   * GUID is left out.
   */
  default Optional<String> refuses(VfSettings wanted) {
    VfSettings able = able(wanted);
    VfSettings rest = wanted.notIn(able);
    boolean onlyNode =
        able.portGuid().isPresent() && rest.nodeGuid().isPresent() && rest.toMap().size() == 1;
    return rest.isEmpty() || onlyNode
        ? Optional.empty()
        : Optional.of(name() + " cannot set " + rest);
  }

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

package graft.sriov.vf;

import graft.sriov.VfSettings;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Reads and sets what one PF keeps for its VFs. */
public interface VfControl {

  /** By which way. */
  VfInterface through();

  /** What the driver says now, by index; what it says nothing of, or 0, is empty. */
  List<VfSettings> read();

  /**
   * The same for one VF, empty when there is no such VF. A way that can ask for one alone does:
   * each answer may take the adapter's firmware.
   */
  default Optional<VfSettings> read(int vf) {
    List<VfSettings> all = read();
    return vf < all.size() ? Optional.of(all.get(vf)) : Optional.empty();
  }

  /** Sets what is asked for and what this way can set; throws when the kernel refuses. */
  void set(int vf, VfSettings wanted);

  /** The present settings of a VF, as text that {@link #restore} understands. */
  default Map<String, String> capture(int vf) {
    return read(vf).map(VfSettings::toMap).orElse(Map.of());
  }

  /** Sets again what {@link #capture} gave; what was unknown then stays as it is. */
  default void restore(int vf, Map<String, String> captured) {
    VfSettings before = VfSettings.fromMap(captured);
    read(vf)
        .map(before::notIn)
        .filter(missing -> !missing.isEmpty())
        .ifPresent(missing -> set(vf, missing));
  }
}

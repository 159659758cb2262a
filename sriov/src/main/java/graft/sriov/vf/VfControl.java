package graft.sriov.vf;

import graft.sriov.VfSettings;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Reads and sets what one PF keeps for its VFs. */
public interface VfControl {

  /** The interface in use. */
  VfInterface through();

  /**
   * The present settings by index; a setting that the driver does not report, or reports as 0, is
   * empty.
   */
  List<VfSettings> read();

  /**
   * The same for one VF, empty when there is no such VF. Interfaces that can query a single VF do
   * so, because each query may involve the adapter's firmware.
   */
  default Optional<VfSettings> read(int vf) {
    List<VfSettings> all = read();
    return vf < all.size() ? Optional.of(all.get(vf)) : Optional.empty();
  }

  /** Applies the settings that this interface can set; throws when the kernel refuses. */
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

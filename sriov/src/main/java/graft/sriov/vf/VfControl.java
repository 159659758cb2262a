package graft.sriov.vf;

import graft.sriov.VfSettings;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Reads and sets the settings that one PF keeps for its VFs. */
public interface VfControl {

  /** The interface that is used. */
  VfInterface through();

  /**
   * The present settings by index; a setting is empty if the driver does not report it or reports
   * 0.
   */
  List<VfSettings> read();

  /**
   * The present settings of one VF; empty if the VF does not exist. Interfaces that can query a
   * single VF do so, because each query may involve the adapter's firmware.
   */
  default Optional<VfSettings> read(int vf) {
    List<VfSettings> all = read();
    return vf < all.size() ? Optional.of(all.get(vf)) : Optional.empty();
  }

  /** Sets the settings that this interface supports; throws if the kernel rejects one. */
  void set(int vf, VfSettings wanted);

  /** The present settings of a VF, as text for {@link #restore}. */
  default Map<String, String> capture(int vf) {
    return read(vf).map(VfSettings::toMap).orElse(Map.of());
  }

  /** Restores the result of {@link #capture}; settings that were unknown stay unchanged. */
  default void restore(int vf, Map<String, String> captured) {
    VfSettings before = VfSettings.fromMap(captured);
    read(vf)
        .map(before::notIn)
        .filter(missing -> !missing.isEmpty())
        .ifPresent(missing -> set(vf, missing));
  }
}

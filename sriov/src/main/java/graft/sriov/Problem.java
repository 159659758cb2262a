package graft.sriov;

import graft.common.values.PciAddress;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * One reason why a request cannot be carried out, found before anything was changed.
 *
 * @param subject what it is about, for people: a PCI address, a file, a guest
 * @param device the device that it is about, for programs: of a VF that may not exist yet, its PF
 * @param vf the index of the VF of that device which it is about
 * @param what the reason
 * @param next the way out
 */
public record Problem(
    String subject, Optional<PciAddress> device, OptionalInt vf, String what, String next) {
  /** About something that is no device. */
  public Problem(String subject, String what, String next) {
    this(subject, Optional.empty(), OptionalInt.empty(), what, next);
  }

  /** About a device. */
  public Problem(PciAddress device, String what, String next) {
    this(device.toString(), Optional.of(device), OptionalInt.empty(), what, next);
  }

  /** The same, about one VF of the device. */
  public Problem ofVf(int index) {
    return new Problem(subject, device, OptionalInt.of(index), what, next);
  }

  @Override
  public String toString() {
    return subject + ": " + what + ". " + next + ".";
  }
}

package graft.sriov;

import graft.common.values.PciAddress;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * One reason why a request cannot be carried out, found before anything was changed.
 *
 * @param subject the subject as shown to users: a PCI address, a file, a guest
 * @param device the device, for programs; the PF if the problem concerns a VF, which may not exist
 *     yet
 * @param vf the index of the VF that the problem concerns
 * @param what the reason
 * @param next what to do about the problem
 */
public record Problem(
    String subject, Optional<PciAddress> device, OptionalInt vf, String what, String next) {
  /** A problem that does not concern a device. */
  public Problem(String subject, String what, String next) {
    this(subject, Optional.empty(), OptionalInt.empty(), what, next);
  }

  /** A problem of a device. */
  public Problem(PciAddress device, String what, String next) {
    this(device.toString(), Optional.of(device), OptionalInt.empty(), what, next);
  }

  /** The same problem, of one VF of the device. */
  public Problem ofVf(int index) {
    return new Problem(subject, device, OptionalInt.of(index), what, next);
  }

  @Override
  public String toString() {
    return subject + ": " + what + ". " + next + ".";
  }
}

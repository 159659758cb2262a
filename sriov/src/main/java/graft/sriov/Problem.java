package graft.sriov;

/**
 * One reason why a request cannot be carried out, found before anything was changed.
 *
 * @param subject what it is about: a PCI address, a file, a guest
 * @param what the reason
 * @param next the way out
 */
public record Problem(String subject, String what, String next) {
  @Override
  public String toString() {
    return subject + ": " + what + ". " + next + ".";
  }
}

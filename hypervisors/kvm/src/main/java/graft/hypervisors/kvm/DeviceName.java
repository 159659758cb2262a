package graft.hypervisors.kvm;

/** Linux device names of disks: vda to vdz, then vdaa and so on. */
final class DeviceName {

  private static final int LETTERS = 26;

  private DeviceName() {}

  static String of(String prefix, int index) {
    StringBuilder letters = new StringBuilder();
    for (int rest = index; rest >= 0; rest = rest / LETTERS - 1) {
      letters.insert(0, (char) ('a' + rest % LETTERS));
    }
    return prefix + letters;
  }
}

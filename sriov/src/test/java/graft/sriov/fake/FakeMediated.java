package graft.sriov.fake;

import graft.sriov.files.Errno;
import graft.sriov.files.PciPaths;
import graft.sriov.files.WriteFailedException;
import java.nio.file.Files;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Mediated devices: drivers/vfio/mdev/mdev_sysfs.c. */
final class FakeMediated {
  private static final String DEVICES = "/sys/bus/mdev/devices/";
  private static final Pattern CREATE =
      Pattern.compile("(" + PciPaths.DEVICES + "/[0-9a-f:.]+/mdev_supported_types/[^/]+)/create");
  private static final Pattern REMOVE = Pattern.compile(DEVICES + "([^/]+)/remove");

  private FakeMediated() {}

  /** Writes to a file of a mediated device; returns false if the path is not such a file. */
  static boolean write(Tree tree, String path, String value) {
    Matcher create = CREATE.matcher(path);
    Matcher remove = REMOVE.matcher(path);
    if (create.matches()) {
      String type = create.group(1);
      if (Files.exists(tree.path(DEVICES + value))) {
        throw new WriteFailedException(path, value, Errno.EEXIST);
      }
      if (available(tree, type) == 0) {
        throw new WriteFailedException(path, value, Errno.ENOSPC);
      }
      count(tree, type, -1);
      tree.file(DEVICES + value + "/remove", "");
      tree.file(DEVICES + value + "/mdev_type", type);
      return true;
    }
    if (remove.matches()) {
      count(tree, tree.text(DEVICES + remove.group(1) + "/mdev_type"), 1);
      tree.delete(DEVICES + remove.group(1));
      return true;
    }
    return false;
  }

  private static void count(Tree tree, String type, int change) {
    int left = available(tree, type) + change;
    tree.file(type + "/available_instances", Integer.toString(left));
  }

  private static int available(Tree tree, String type) {
    return Integer.parseInt(tree.text(type + "/available_instances"));
  }
}

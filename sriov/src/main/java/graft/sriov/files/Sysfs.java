package graft.sriov.files;

import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * The files by which a Linux host shows and changes its state: {@code /sys}, {@code /proc}, {@code
 * /dev} and the configuration below {@code /etc}.
 *
 * <p>Paths are the host's absolute paths ({@code /sys/bus/pci/devices}); an implementation may keep
 * the files below any folder. Reading never fails: a file that is absent, or that the kernel does
 * not let the caller read, is empty.
 */
public interface Sysfs {

  /**
   * The content without leading and trailing white space; empty if no readable file has that path.
   */
  Optional<String> read(String path);

  /** The names in a folder, sorted; none if the folder does not exist. */
  List<String> list(String path);

  /** The target of a symbolic link, as stored in the link; empty if the link does not exist. */
  Optional<String> readLink(String path);

  /** Whether a file, a folder or a link with that path exists; the link's target need not exist. */
  boolean exists(String path);

  /**
   * Writes an attribute of the kernel with a single {@code write} and waits until the kernel has
   * processed the write.
   *
   * @param path an existing file
   * @param value the value, without a newline
   * @param limit the longest time to wait
   * @throws WriteFailedException if the kernel rejects the value, with the kernel's error number
   * @throws WriteHangsException if the write has not returned within the limit; the write may still
   *     return later, and the caller must assume that any outcome is possible
   */
  void write(String path, String value, Duration limit);

  /**
   * Writes an ordinary file as a whole, replacing it atomically, and creates its folder if missing.
   */
  void store(String path, String content);

  /** Creates a symbolic link, or changes its target, and creates its folder if missing. */
  void storeLink(String path, String target);

  /** Whether these are the files of the host that this process runs on. */
  default boolean isThisHost() {
    return false;
  }

  /** Deletes an ordinary file or a link, if it exists. */
  void remove(String path);

  /** The last component of a link's target, such as the driver's name for {@code .../driver}. */
  default Optional<String> linkName(String path) {
    return readLink(path).map(target -> target.substring(target.lastIndexOf('/') + 1));
  }
}

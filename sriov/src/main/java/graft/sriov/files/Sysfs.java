package graft.sriov.files;

import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * The files through which a Linux host shows and takes its state: {@code /sys}, {@code /proc},
 * {@code /dev} and configuration below {@code /etc}.
 *
 * <p>Paths are those of the host, absolute ({@code /sys/bus/pci/devices}); an implementation may
 * keep them below any folder. Reading never fails: what is absent, and what the kernel does not let
 * the caller read, is empty.
 */
public interface Sysfs {

  /** The content without white space at its ends; empty when there is no such readable file. */
  Optional<String> read(String path);

  /** The names in a folder, sorted; none when there is no such folder. */
  List<String> list(String path);

  /** Where a symbolic link points, as it is written; empty when there is no such link. */
  Optional<String> readLink(String path);

  /** Whether there is a file, folder or link (whether or not it leads anywhere) of that path. */
  boolean exists(String path);

  /**
   * Writes an attribute of the kernel with a single {@code write} and waits until the kernel has
   * taken it.
   *
   * @param path an existing file
   * @param value what to write, without a newline
   * @param limit how long to wait
   * @throws WriteFailedException when the kernel refuses it, with its error number
   * @throws WriteHangsException when the kernel has not answered within the limit; it may still
   *     answer later, and the caller must take it that the write can have any outcome
   */
  void write(String path, String value, Duration limit);

  /** Writes an ordinary file as a whole, replacing it atomically; makes its folder. */
  void store(String path, String content);

  /** Makes a symbolic link, or changes where it points; makes its folder. */
  void storeLink(String path, String target);

  /** Whether these are the files of the host that this runs on. */
  default boolean isThisHost() {
    return false;
  }

  /** Removes an ordinary file or a link if it is there. */
  void remove(String path);

  /** The last component of the target of a link: the driver of {@code .../driver}, say. */
  default Optional<String> linkName(String path) {
    return readLink(path).map(target -> target.substring(target.lastIndexOf('/') + 1));
  }
}

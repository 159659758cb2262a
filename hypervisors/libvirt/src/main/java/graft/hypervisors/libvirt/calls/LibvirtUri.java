package graft.hypervisors.libvirt.calls;

import java.net.URI;
import java.util.Locale;

/**
 * The location of a libvirt daemon and the driver to use, {@code
 * driver[+transport]://[user@][host][:port]/[path][?parameters]}.
 *
 * @see <a href="https://libvirt.org/uri.html">libvirt: connection URIs</a>
 */
public record LibvirtUri(URI uri) {

  public static final LibvirtUri QEMU_SYSTEM = parse("qemu:///system");
  public static final LibvirtUri QEMU_SESSION = parse("qemu:///session");
  public static final LibvirtUri XEN_SYSTEM = parse("xen:///system");

  public LibvirtUri {
    if (uri.getScheme() == null || uri.isOpaque()) {
      throw new IllegalArgumentException(
          "not a libvirt URI: '"
              + uri
              + "'; for example qemu:///system, xen:///system or"
              + " qemu+ssh://root@node1/system");
    }
  }

  /**
   * Parses a URI.
   *
   * @throws IllegalArgumentException with examples in the message, if the text is not such a URI
   */
  public static LibvirtUri parse(String text) {
    try {
      return new LibvirtUri(URI.create(text));
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(
          "not a libvirt URI: '"
              + text
              + "'; for example qemu:///system, xen:///system or"
              + " qemu+ssh://root@node1/system",
          e);
    }
  }

  /** The driver's name in lower case: {@code qemu}, {@code xen}, {@code test}. */
  public String driver() {
    String scheme = uri.getScheme().toLowerCase(Locale.ROOT);
    int plus = scheme.indexOf('+');
    return plus < 0 ? scheme : scheme.substring(0, plus);
  }

  /**
   * Whether the daemon runs on this machine, so that this process can read the daemon's files and
   * devices.
   */
  public boolean isLocal() {
    String host = uri.getAuthority();
    return host == null || host.isEmpty();
  }

  /** Whether the daemon is the unprivileged one of a user. */
  public boolean isSession() {
    return "/session".equals(uri.getPath());
  }

  @Override
  public String toString() {
    return uri.toString();
  }
}

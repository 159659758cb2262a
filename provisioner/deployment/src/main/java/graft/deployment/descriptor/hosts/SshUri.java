package graft.deployment.descriptor.hosts;

import graft.common.values.UserName;
import graft.guests.connection.HostAddress;
import graft.hypervisors.libvirt.calls.LibvirtUri;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * libvirt's URIs of other machines with ssh as transport. A URI may contain a password by mistake,
 * so that no message repeats a part of it before that part is known to be something else.
 *
 * @see <a href="https://libvirt.org/uri.html">libvirt: connection URIs</a>
 */
final class SshUri {
  private static final Pattern FORM =
      Pattern.compile(
          "(?<driver>[a-z]{1,20})(\\+(?<transport>[a-z0-9]{1,20}))?://"
              + "(?<authority>[^/?#\\s]*)(?<path>/[^?#@\\s]*)?(\\?(?<query>[^#@\\s]*))?");

  private static final Pattern MACHINE =
      Pattern.compile("((?<user>[^@]*)@)?(\\[(?<six>[^\\[\\]]*)]|(?<host>[^:@]*))(:(?<port>.*))?");

  private static final Pattern UNPRINTABLE = Pattern.compile("[\\p{Cntrl}\uFFFD]");

  /** ssh and the two libraries that do the same. */
  private static final Set<String> SSH = Set.of("ssh", "libssh", "libssh2");

  private static final String KEY = "keyfile";
  private static final String KNOWN_HOSTS = "known_hosts";
  private static final String LOOK =
      "(ssh-keyscan shows a key to compare with that on the host's console)";

  /** What to do instead, by the parameters of libvirt that Graft does not follow. */
  private static final Map<String, String> REFUSED =
      Map.ofEntries(
          Map.entry("command", "Graft runs the program ssh of PATH"),
          Map.entry("mode", "Graft runs on the host, beside its libvirt"),
          Map.entry("name", "write the driver at the URI's beginning"),
          Map.entry("netcat", "Graft runs on the host, beside its libvirt"),
          Map.entry("no_tty", "Graft never asks for a password; only no_tty=1 says so"),
          Map.entry("no_verify", "the host's key has to be known before " + LOOK),
          Map.entry("known_hosts_verify", "the host's key has to be known before " + LOOK),
          Map.entry("proxy", "Graft runs on the host, beside its libvirt"),
          Map.entry("socket", "write libvirt: URI into a descriptor on the host itself"),
          Map.entry("sshauth", "Graft logs in with keys alone, as ssh is configured"));

  private SshUri() {}

  static HostSsh parse(String text) {
    Matcher uri = FORM.matcher(text);
    if (!uri.matches()) {
      throw new IllegalArgumentException(
          "this is no URI of libvirt such as qemu+ssh://root@node1/system");
    }
    String driver = uri.group("driver");
    String authority = uri.group("authority");
    if (authority.substring(0, Math.max(0, authority.lastIndexOf('@'))).contains(":")) {
      throw new IllegalArgumentException(
          "the URI has a password, which others can read: log in with a key, and remove it");
    }
    refuse(driver, uri.group("transport"), authority);
    Matcher machine = MACHINE.matcher(authority);
    if (!machine.matches()) {
      throw new IllegalArgumentException(
          "the URI names no machine: write " + driver + "+ssh://USER@HOST/system");
    }
    Optional<UserName> user = Optional.ofNullable(machine.group("user")).map(SshUri::user);
    Optional<Integer> port = Optional.ofNullable(machine.group("port")).map(SshUri::port);
    HostAddress host = host(machine);
    LibvirtUri daemon = daemon(driver, uri.group("path"));
    Map<String, String> parameters = parameters(uri.group("query"));
    return new HostSsh(
        user,
        host,
        port,
        Optional.ofNullable(parameters.get(KEY)),
        Optional.ofNullable(parameters.get(KNOWN_HOSTS)),
        Optional.of(daemon));
  }

  private static void refuse(String driver, String transport, String authority) {
    if (driver.equals("ssh")) {
      throw new IllegalArgumentException(
          "ssh is no driver of libvirt: write USER@HOST, or qemu+ssh://USER@HOST/system");
    }
    if (!Set.of("qemu", "xen", "lxc").contains(driver)) {
      throw new IllegalArgumentException(
          "Graft makes no guests with libvirt's driver '" + driver + "': write qemu, xen or lxc");
    }
    if (transport == null || !SSH.contains(transport)) {
      String given =
          transport != null
              ? "libvirt's transport '" + transport + "'"
              : authority.isEmpty() ? "a URI of this machine" : "libvirt's transport tls";
      throw new IllegalArgumentException(
          given
              + " gives no login on the host, and Graft runs there itself: write "
              + driver
              + "+ssh://USER@HOST/system");
    }
  }

  private static UserName user(String text) {
    try {
      return UserName.parse(text);
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(
          "what the URI has before @ is no user's name: use letters, digits, dots, underscores and"
              + " inner hyphens, at most 32",
          e);
    }
  }

  private static HostAddress host(Matcher machine) {
    String six = machine.group("six");
    if (six != null && !six.contains(":")) {
      throw new IllegalArgumentException("only an IPv6 address is written in brackets");
    }
    String host = six == null ? machine.group("host") : six;
    if (host.isEmpty()) {
      throw new IllegalArgumentException("the URI names no host");
    }
    return HostAddress.parse(host);
  }

  private static int port(String text) {
    int port = text.matches("[0-9]{1,5}") ? Integer.parseInt(text) : 0;
    if (port < 1 || port > 65535) {
      throw new IllegalArgumentException(
          "what the URI has behind the host's colon is no port: write a number from 1 to 65535, and"
              + " an IPv6 address in brackets");
    }
    return port;
  }

  /** The URI of the daemon on its own machine. */
  private static LibvirtUri daemon(String driver, String path) {
    String given = path == null || path.equals("/") ? "" : path;
    boolean isQemu = driver.equals("qemu");
    if (!(isQemu ? Set.of("/system", "/session") : Set.of("", "/system")).contains(given)) {
      throw new IllegalArgumentException(
          "the URI has to end with the daemon: write /system"
              + (isQemu ? " or /session" : "")
              + " behind the host");
    }
    return LibvirtUri.parse(driver + "://" + (given.isEmpty() ? "/system" : given));
  }

  private static Map<String, String> parameters(String query) {
    Map<String, String> all = new TreeMap<>();
    for (String one : query == null ? List.<String>of() : List.of(query.split("[&;]", -1))) {
      int equals = one.indexOf('=');
      String name = equals < 0 ? one : one.substring(0, equals);
      String value = equals < 0 ? "" : decoded(one.substring(equals + 1));
      if (one.isEmpty() || (name.equals("no_tty") && value.equals("1"))) {
        continue;
      }
      if (!name.equals(KEY) && !name.equals(KNOWN_HOSTS)) {
        throw refusedParameter(name);
      }
      if (value.isEmpty() || UNPRINTABLE.matcher(value).find()) {
        throw new IllegalArgumentException("the URI's parameter '" + name + "' names no file");
      }
      if (all.putIfAbsent(name, value) != null) {
        throw new IllegalArgumentException("the URI has the parameter '" + name + "' twice");
      }
    }
    return all;
  }

  private static IllegalArgumentException refusedParameter(String name) {
    String what =
        REFUSED.containsKey(name) || name.matches("[a-z_]{1,20}")
            ? "the URI's parameter '" + name + "'"
            : "one of the URI's parameters";
    return new IllegalArgumentException(
        "Graft does not follow "
            + what
            + ": "
            + REFUSED.getOrDefault(name, "it follows keyfile and known_hosts alone")
            + "; leave it out");
  }

  /** Decodes %XX as libvirt does, to which + is no blank. */
  private static String decoded(String text) {
    try {
      return URLDecoder.decode(text.replace("+", "%2B"), StandardCharsets.UTF_8);
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(
          "a percent sign of the URI is not followed by two hex digits", e);
    }
  }

  static String text(HostSsh ssh) {
    LibvirtUri daemon = ssh.libvirt().orElseThrow();
    String host = ssh.host().text();
    List<String> parameters = new ArrayList<>();
    ssh.key().ifPresent(file -> parameters.add(KEY + "=" + encoded(file)));
    ssh.knownHosts().ifPresent(file -> parameters.add(KNOWN_HOSTS + "=" + encoded(file)));
    return daemon.driver()
        + "+ssh://"
        + ssh.user().map(user -> user + "@").orElse("")
        + (host.contains(":") ? "[" + host + "]" : host)
        + ssh.port().map(port -> ":" + port).orElse("")
        + daemon.uri().getPath()
        + (parameters.isEmpty() ? "" : "?" + String.join("&", parameters));
  }

  private static String encoded(String file) {
    return URLEncoder.encode(file, StandardCharsets.UTF_8).replace("+", "%20").replace("%2F", "/");
  }
}

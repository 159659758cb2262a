package graft.deployment.descriptor.hosts;

import graft.common.bind.Form;
import graft.common.values.UserName;
import graft.deployment.descriptor.guest.SshTarget;
import graft.guests.connection.HostAddress;
import graft.hypervisors.libvirt.calls.LibvirtUri;
import java.util.Optional;
import java.util.function.UnaryOperator;

/**
 * How a host is reached by SSH: {@code root@192.0.2.7}, or libvirt's URI of the host with ssh as
 * transport, {@code qemu+ssh://root@192.0.2.7:2222/system}.
 *
 * @param user empty for the operator's own name, as libvirt takes it
 * @param port if a URI names one
 * @param key the file of the private key, if a URI names one with {@code keyfile}
 * @param knownHosts the file with the host's key, if a URI names one with {@code known_hosts}
 * @param libvirt the URI of that libvirt on the host itself; empty for {@code USER@HOST}
 */
@Form(
    pattern =
        "^([A-Za-z_][A-Za-z0-9._-]{0,31}@(?!-)[0-9A-Za-z.:-]+"
            + "|(qemu|xen|lxc)\\+(ssh|libssh2?)://[^\\s#]+)$",
    example = "root@192.0.2.7")
public record HostSsh(
    Optional<UserName> user,
    HostAddress host,
    Optional<Integer> port,
    Optional<String> key,
    Optional<String> knownHosts,
    Optional<LibvirtUri> libvirt) {

  /** A login that no URI describes. */
  public static HostSsh of(UserName user, HostAddress host) {
    return new HostSsh(
        Optional.of(user),
        host,
        Optional.empty(),
        Optional.empty(),
        Optional.empty(),
        Optional.empty());
  }

  /**
   * Parses {@code USER@HOST} or a URI.
   *
   * @throws IllegalArgumentException if the text is neither, or Graft does not do what the URI says
   */
  public static HostSsh parse(String text) {
    if (text.contains("://")) {
      return SshUri.parse(text);
    }
    SshTarget target = SshTarget.parse(text);
    return of(target.user(), target.host());
  }

  /** A copy with other paths of the files. */
  public HostSsh resolved(UnaryOperator<String> path) {
    return new HostSsh(user, host, port, key.map(path), knownHosts.map(path), libvirt);
  }

  /** The user to log in as. */
  public UserName account() {
    return user.orElseGet(() -> UserName.parse(System.getProperty("user.name")));
  }

  /** The user and the machine, as ssh takes them. */
  public String target() {
    return account() + "@" + host;
  }

  /** The text that {@link #parse} reads. */
  @Override
  public String toString() {
    return libvirt.isPresent() ? SshUri.text(this) : target();
  }
}

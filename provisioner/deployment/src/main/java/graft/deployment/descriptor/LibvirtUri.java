package graft.deployment.descriptor;

import graft.common.bind.Form;
import java.util.regex.Pattern;

/** A libvirt connection, or {@code auto}: the system's daemon if it answers, else the session's. */
@Form(pattern = "^(auto|[a-z]+(\\+[a-z0-9]+)?://.*)$", example = "qemu:///system")
public record LibvirtUri(String text) {
  private static final Pattern TEXT = Pattern.compile("auto|[a-z]+(\\+[a-z0-9]+)?://\\S*");

  private static final Pattern ESX = Pattern.compile("(esx|vpx|gsx)(\\+[a-z]+)?://.*");

  /** Refuses what is not a URI. */
  public LibvirtUri {
    if (!TEXT.matcher(text).matches()) {
      throw new IllegalArgumentException("this is no URI of libvirt such as qemu:///system");
    }
  }

  public static LibvirtUri parse(String text) {
    return new LibvirtUri(text);
  }

  public boolean isAuto() {
    return text.equals("auto");
  }

  /** Whether it is VMware's: an ESXi host, or the vCenter or GSX server of one. */
  public boolean isEsx() {
    return ESX.matcher(text).matches();
  }

  /** Whether its daemon is on this machine: a URI without a host. */
  public boolean isLocal() {
    return isAuto() || text.startsWith("/", text.indexOf("://") + "://".length());
  }

  @Override
  public String toString() {
    return text;
  }
}

package graft.hypervisors.libvirt.calls;

/** Advice on what to do next, chosen by libvirt's error. */
public final class Advice {

  private static final String LOG = "look into libvirt's log (journalctl -u libvirtd)";

  static final String LOST_CONNECTION = "check that libvirtd still runs, then connect again";

  private Advice() {}

  /**
   * Advice on a failed call.
   *
   * @param code null if libvirt recorded no error, or an error that {@link LibvirtError.Code} lacks
   */
  public static String on(LibvirtError.Code code, String reason) {
    if (reason.contains("Cannot access storage file") || reason.contains("Permission denied")) {
      return "let the user that runs guests (libvirt-qemu on Debian) read the file and enter every"
          + " folder above it, or put it under /var/lib/libvirt/images";
    }
    if (reason.contains("No such file or directory")) {
      return "make the missing file or folder on the host that runs libvirt";
    }
    if (code == null) {
      return LOG;
    }
    return switch (code) {
      case NO_DOMAIN, NO_NETWORK, NO_STORAGE_POOL, NO_STORAGE_VOL, NO_NODE_DEVICE ->
          "check the name, or create it first";
      case DOM_EXIST, OPERATION_FAILED, NETWORK_EXIST, STORAGE_VOL_EXIST ->
          reason.contains("already exists") || reason.contains("exists already")
              ? "choose another name, or destroy and undefine the old one first"
              : LOG;
      case XML_ERROR, XML_DETAIL, XML_INVALID_SCHEMA, CONFIG_UNSUPPORTED, ARGUMENT_UNSUPPORTED ->
          "this libvirt does not take that configuration: correct it, or use a newer libvirt";
      case OPERATION_INVALID -> "look at its state first: that state does not allow it";
      case NO_SUPPORT, OPERATION_UNSUPPORTED ->
          "this hypervisor's libvirt driver does not support that";
      case AUTH_FAILED, AUTH_UNAVAILABLE, OPERATION_DENIED, ACCESS_DENIED ->
          "use an account that may manage guests (group libvirt), or qemu:///session";
      case AGENT_UNRESPONSIVE, AGENT_UNSYNCED ->
          "wait until the guest has booted; it needs the package qemu-guest-agent and the channel"
              + " org.qemu.guest_agent.0";
      case RESOURCE_BUSY, OPERATION_TIMEOUT ->
          "something else works on it: wait for that, or end it";
      case NO_CONNECT, INVALID_CONN, UNKNOWN_HOST, RPC -> LOST_CONNECTION;
      case CPU_INCOMPATIBLE -> "choose a CPU model that this host supports";
      case DEVICE_MISSING -> "the guest has no such device: look at its XML";
      default -> LOG;
    };
  }

  /** Advice on a connection that could not be opened. */
  public static String onOpen(LibvirtUri uri, String reason) {
    if (reason.contains("no connection driver")) {
      return "check the URI's driver; for example qemu:///system, qemu:///session, xen:///system"
          + " (package libvirt-daemon-driver-"
          + uri.driver()
          + ")";
    }
    if (!uri.isLocal()) {
      return "check that the daemon runs there, and with +ssh that 'ssh "
          + uri.uri().getAuthority()
          + "' works without a password";
    }
    if (isRefusal(reason)) {
      return "join the group that may use it (adduser $USER libvirt, then log in again), run as"
          + " root, or use qemu:///session";
    }
    if (reason.contains("libxenlight state driver is not active")) {
      return "boot this host under Xen (package xen-system-amd64): it runs without now";
    }
    if (reason.contains("No such file or directory") || reason.contains("Connection refused")) {
      return uri.isSession()
          ? "install libvirt-daemon: libvirt starts the session's daemon itself"
          : start(uri);
    }
    return "check that libvirtd runs and has the driver for '" + uri.driver() + "'";
  }

  /** Without polkit and its message bus, libvirt cannot ask whether this user may connect. */
  private static boolean isRefusal(String reason) {
    return reason.contains("Permission denied")
        || reason.contains("authentication")
        || reason.contains("system bus");
  }

  private static String start(LibvirtUri uri) {
    String modular =
        switch (uri.driver()) {
          case "xen" -> "virtxend";
          case "lxc" -> "virtlxcd";
          default -> "virtqemud";
        };
    String driver = uri.driver().equals("lxc") ? " and libvirt-daemon-driver-lxc" : "";
    return "start the daemon: systemctl start libvirtd (modular: "
        + modular
        + "), or without systemd: virtlogd -d; libvirtd -d (package libvirt-daemon-system"
        + driver
        + ")";
  }
}

package graft.guests.payload;

import java.util.List;

/**
 * What lets ordinary users of a guest of Xen map the pages that the server grants to it, at each
 * boot: systemd loads the modules, which no device asks for, and udev sets the rights. The small
 * guest has neither and runs the script.
 */
public final class GrantRights {
  private static final String SCRIPT =
      """
      #!/bin/sh
      # Written by graft. Lets every user of this guest map the pages that the host's server grants to it. A kernel that
      # cannot do it is no failure: the guest goes by its other channels.
      modprobe -a xen-gntdev xen-evtchn 2>/dev/null
      for device in /dev/xen/gntdev /dev/xen/evtchn; do
        [ ! -e "$device" ] || chmod 0666 "$device"
      done
      """;

  private static final String MODULES =
      """
      # Written by graft.
      xen-gntdev
      xen-evtchn
      """;

  private static final String RULE =
      """
      # Written by graft.
      SUBSYSTEM=="misc", KERNEL=="xen/gntdev|xen/evtchn", MODE="0666"
      """;

  private GrantRights() {}

  /** The files that do it; what sets the guest up runs the script as well. */
  public static List<PayloadFile> files() {
    return List.of(
        PayloadFile.text(SCRIPT, "/etc/graft/boot.d/10-granted-pages", 0755),
        PayloadFile.text(MODULES, "/etc/modules-load.d/graft-granted-pages.conf", 0644),
        PayloadFile.text(RULE, "/etc/udev/rules.d/70-graft-granted-pages.rules", 0644));
  }
}

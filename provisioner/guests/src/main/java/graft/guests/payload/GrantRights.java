package graft.guests.payload;

import java.util.List;

/**
 * Files by which ordinary users of a Xen guest may map the pages that the server grants to the
 * guest. At each boot systemd loads the modules, which no device requests, and udev sets the
 * permissions. The small guest has neither systemd nor udev and runs the script.
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

  /** The files. The guest's set-up also runs the script. */
  public static List<PayloadFile> files() {
    return List.of(
        PayloadFile.text(SCRIPT, "/etc/graft/boot.d/10-granted-pages", 0755),
        PayloadFile.text(MODULES, "/etc/modules-load.d/graft-granted-pages.conf", 0644),
        PayloadFile.text(RULE, "/etc/udev/rules.d/70-graft-granted-pages.rules", 0644));
  }
}

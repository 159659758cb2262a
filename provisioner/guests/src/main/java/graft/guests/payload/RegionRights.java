package graft.guests.payload;

import java.util.List;

/**
 * Files by which ordinary users of a guest may map the memory that the guest shares with the
 * server: a script that runs at each boot, in the small guest as part of the boot, in other guests
 * when udev finds the device.
 */
public final class RegionRights {
  private static final String SCRIPT_PATH = "/etc/graft/boot.d/10-shared-memory";

  private static final String SCRIPT =
      """
      #!/bin/sh
      # Written by graft. Lets every user of this guest map the memory that it shares with the host.
      for device in /sys/bus/pci/devices/*; do
        read -r vendor <"$device/vendor" && read -r number <"$device/device"
        [ "$vendor$number" = 0x1af40x1110 ] || continue
        echo 1 >"$device/enable"
        chmod 0666 "$device/resource2"
      done
      """;

  private static final String RULE =
      "# Written by graft.\n"
          + "ACTION==\"add\", SUBSYSTEM==\"pci\", ATTR{vendor}==\"0x1af4\", ATTR{device}==\"0x1110\","
          + " RUN+=\""
          + SCRIPT_PATH
          + "\"\n";

  private RegionRights() {}

  /** The files. The guest's set-up also runs the script. */
  public static List<PayloadFile> files() {
    return List.of(
        PayloadFile.text(SCRIPT, SCRIPT_PATH, 0755),
        PayloadFile.text(RULE, "/etc/udev/rules.d/70-graft-shared-memory.rules", 0644));
  }
}

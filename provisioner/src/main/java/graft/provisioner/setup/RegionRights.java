package graft.provisioner.setup;

import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * What lets ordinary users of a guest map the memory that it shares with the server, at each boot:
 * a script, which the small guest runs at its boot and udev when it finds the device.
 */
final class RegionRights {
  private static final String SCRIPT_PATH = CloudInitSeed.BOOT_SCRIPTS + "10-shared-memory";

  private static final String SCRIPT =
      """
      #!/bin/sh
      # Written by graft. Lets every user of this guest map the memory that it shares with the host.
      for device in /sys/bus/pci/devices/*; do
        [ "$(cat "$device/vendor")$(cat "$device/device")" = 0x1af40x1110 ] || continue
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

  static List<GuestFile> files() {
    return List.of(
        new GuestFile(SCRIPT_PATH, 0755, SCRIPT.getBytes(StandardCharsets.UTF_8)),
        new GuestFile(
            "/etc/udev/rules.d/70-graft-shared-memory.rules",
            0644,
            RULE.getBytes(StandardCharsets.UTF_8)));
  }
}

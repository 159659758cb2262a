package graft.deployment.fabric;

import graft.deployment.descriptor.DescriptorFile;
import graft.deployment.state.StateFolder;
import graft.deployment.step.device.ApplyAtBoot;
import graft.sriov.StubDriver;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/**
 * The service that applies a deployment again when the host boots.
 *
 * <p>Its text is compared with the file on disk, so that any other wording shows as drift on hosts
 * where it was applied.
 */
final class BootUnit {
  static final String NO_PROGRAM =
      "the deployment is not applied again after a reboot: this graft does not run from an"
          + " installation that a service could name";

  static final String NO_SYSTEMD =
      "after a reboot, guests are off until graft apply: this host has no systemd to run it, so that"
          + " autostart does nothing";
  static final String NOT_ROOT =
      "after a reboot, guests are off until graft apply: only root can have the host run it, so that"
          + " autostart does nothing";
  static final String SETTINGS_LOST =
      "after a reboot, virtual functions and drivers are as before until graft apply: this host has"
          + " no systemd to run it";

  private BootUnit() {}

  /** The step that installs the service; empty if no path of this program is known. */
  static Optional<ApplyAtBoot> step(DescriptorFile file, StateFolder state, StubDriver stub) {
    Path program = Path.of(System.getProperty("graft.home", ""), "bin", "graft");
    if (!program.isAbsolute() || !Files.isExecutable(program)) {
      return Optional.empty();
    }
    String descriptor = file.path().toAbsolutePath().normalize().toString();
    return Optional.of(
        new ApplyAtBoot(
            "graft-" + state.deployment() + ".service",
            text(program.toString(), descriptor, state, stub)));
  }

  /**
   * The unit. Settings in sysfs must be made before the guests start: once, after libvirt is up.
   */
  static String text(String program, String descriptor, StateFolder state, StubDriver stub) {
    return """
        # Made by graft apply; graft destroy removes it.
        [Unit]
        Description=Graft set-up %s
        Wants=network-online.target
        After=network-online.target libvirtd.service virtqemud.service openibd.service
        RequiresMountsFor=%s

        [Service]
        Type=oneshot
        RemainAfterExit=yes
        Environment=%s
        ExecStartPre=-/sbin/modprobe %s
        ExecStart=%s apply %s
        KillMode=process
        TimeoutStartSec=15min

        [Install]
        WantedBy=multi-user.target
        """
        .formatted(
            state.deployment(),
            quoted(descriptor),
            quoted("GRAFT_STATE_DIR=" + state.path().getParent()),
            stub.module(),
            quoted(program).replace("$", "$$"),
            quoted(descriptor).replace("$", "$$"));
  }

  /**
   * Quotes a word by systemd.syntax(7), where % begins a specifier and, in commands, $ a variable.
   */
  private static String quoted(String text) {
    return "\"" + text.replace("\\", "\\\\").replace("\"", "\\\"").replace("%", "%%") + "\"";
  }
}

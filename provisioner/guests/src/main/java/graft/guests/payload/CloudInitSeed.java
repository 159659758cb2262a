package graft.guests.payload;

import java.io.IOException;
import java.io.OutputStream;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * The seed of a guest that boots a cloud image: the files of cloud-init's NoCloud source, and the
 * archive of the payload. A script of the cloud-config unpacks the archive, so that large payloads
 * bypass cloud-init.
 *
 * @param instance a name that changes whenever the guest is to be set up again: cloud-init then
 *     processes the seed again, and leaves the rest of the disk unchanged
 * @param userData a cloud-config of the user, merged after Graft's
 * @param key the public key of a user who may log in as root
 * @see <a href="https://cloudinit.readthedocs.io/en/latest/reference/datasources/nocloud.html">
 *     cloud-init: NoCloud</a>
 */
public record CloudInitSeed(
    String instance, Payload payload, Optional<String> userData, Optional<String> key) {
  private static final String BOUNDARY = "graft-part";
  private static final String LABEL = "cidata";
  private static final String ARCHIVE = "setup.tar";
  private static final String SCRIPT = "setup.sh";
  private static final String EACH_BOOT = "/var/lib/cloud/scripts/per-boot/graft";
  private static final String MOUNTED = "/run/graft-seed";

  /** A file in the guest that exists once the seed has been processed. */
  public static String marker(String instance) {
    return "/var/lib/graft/set-up-" + instance;
  }

  /** A file in the guest with the error, if processing failed. */
  public static String failed(String marker) {
    return marker + ".failed";
  }

  /** Writes the seed's image. */
  public void writeTo(OutputStream out) throws IOException {
    Map<String, Content> seed = new LinkedHashMap<>();
    seed.put("user-data", Content.of(userData.map(this::both).orElseGet(this::cloudConfig)));
    seed.put("meta-data", Content.of(metaData()));
    seed.put("network-config", Content.of(networkConfig()));
    if (!payload.isEmpty()) {
      seed.put(SCRIPT, Content.of(SetupArchive.script()));
      seed.put(ARCHIVE, new SetupArchive(payload));
    }
    SeedImage.write(out, LABEL, seed);
  }

  /** The cloud-config that Graft generates. */
  String cloudConfig() {
    StringBuilder text = new StringBuilder("#cloud-config\n");
    text.append("hostname: ").append(payload.hostName()).append('\n');
    key.ifPresent(
        line ->
            text.append("disable_root: false\n")
                .append("ssh_authorized_keys:\n  - ")
                .append(line)
                .append('\n'));
    text.append("write_files:\n  - path: ").append(EACH_BOOT).append('\n');
    text.append("    permissions: '0755'\n    content: |\n");
    text.append(eachBoot().indent(6));
    return text.toString();
  }

  /**
   * The command that cloud-init runs at the end of each boot. Commands that run only once would not
   * be repeated if a guest reboots before they have finished.
   */
  private String eachBoot() {
    String marker = marker(instance);
    String bring =
        payload.isEmpty()
            ? "install -D /dev/null " + marker
            : """
            mkdir -p %1$s && mount -o ro LABEL=%2$s %1$s && sh %1$s/%3$s %1$s/%4$s %5$s
            umount %1$s"""
                .formatted(MOUNTED, LABEL, SCRIPT, ARCHIVE, marker);
    return "#!/bin/sh\n[ ! -e " + marker + " ] || exit 0\n" + bring + "\n";
  }

  private String metaData() {
    return "instance-id: " + instance + "\nlocal-hostname: " + payload.hostName() + "\n";
  }

  private static String networkConfig() {
    return """
    version: 2
    ethernets:
      all:
        match: {name: "e*"}
        dhcp4: true
    """;
  }

  /**
   * Combines both cloud-configs as parts of one message. cloud-init merges them and appends lists.
   */
  private String both(String theirs) {
    String head = "Content-Type: text/cloud-config; charset=\"utf-8\"\nMIME-Version: 1.0\n";
    String merge = "Merge-Type: list(append)+dict(no_replace,recurse_list)+str()\n";
    return "Content-Type: multipart/mixed; boundary=\""
        + BOUNDARY
        + "\"\nMIME-Version: 1.0\n\n"
        + ("--" + BOUNDARY + "\n" + head + merge + "\n" + cloudConfig() + "\n")
        + ("--" + BOUNDARY + "\n" + head + merge + "\n" + theirs + "\n")
        + ("--" + BOUNDARY + "--\n");
  }
}

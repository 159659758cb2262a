package graft.provisioner.setup;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.zip.GZIPOutputStream;

/**
 * The seed of a guest that boots a cloud image: what cloud-init's NoCloud source reads.
 *
 * @see <a href="https://cloudinit.readthedocs.io/en/latest/reference/datasources/nocloud.html">
 *     cloud-init: NoCloud</a>
 */
public final class CloudInitSeed {
  /** Scripts there are run at each boot of a small guest, and once by cloud-init. */
  static final String BOOT_SCRIPTS = "/etc/graft/boot.d/";

  private static final String BOUNDARY = "graft-part";

  private CloudInitSeed() {}

  /** A file in the guest that is there once cloud-init has done all that the seed says. */
  public static String marker(String instance) {
    return "/var/lib/graft/set-up-" + instance;
  }

  /**
   * The seed's image.
   *
   * @param instance changes whenever the guest is to be set up anew: cloud-init then writes all
   *     files again, and keeps what else is on the disk
   * @param userData a cloud-config of the user's own, merged after ours
   */
  public static byte[] image(
      String instance, String hostName, List<GuestFile> files, Optional<String> userData) {
    Map<String, byte[]> seed = new LinkedHashMap<>();
    String ours = cloudConfig(instance, hostName, files);
    seed.put("user-data", bytes(userData.map(theirs -> both(ours, theirs)).orElse(ours)));
    seed.put(
        "meta-data", bytes("instance-id: " + instance + "\nlocal-hostname: " + hostName + "\n"));
    seed.put("network-config", bytes(networkConfig()));
    return SeedImage.of("cidata", seed);
  }

  /** Our cloud-config. */
  static String cloudConfig(String instance, String hostName, List<GuestFile> files) {
    StringBuilder text = new StringBuilder("#cloud-config\n");
    text.append("hostname: ").append(hostName).append('\n');
    text.append("write_files:\n");
    for (GuestFile file : files) {
      if (file.path().equals("/etc/hostname")) {
        continue; // cloud-init's own business
      }
      text.append("  - path: ").append(quoted(file.path())).append('\n');
      text.append("    owner: root:root\n");
      text.append("    permissions: '")
          .append(String.format(Locale.ROOT, "%04o", file.mode()))
          .append("'\n");
      text.append("    encoding: gz+b64\n");
      text.append("    content: ").append(packed(file.content())).append('\n');
    }
    text.append("runcmd:\n");
    text.append("  - [ldconfig]\n");
    files.stream()
        .map(GuestFile::path)
        .filter(path -> path.startsWith(BOOT_SCRIPTS))
        .forEach(path -> text.append("  - [").append(quoted(path)).append("]\n"));
    text.append("  - [install, -D, /dev/null, ").append(marker(instance)).append("]\n");
    return text.toString();
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

  /** Both cloud-configs as parts of one message, which cloud-init merges, lists appended. */
  private static String both(String ours, String theirs) {
    String head = "Content-Type: text/cloud-config; charset=\"utf-8\"\nMIME-Version: 1.0\n";
    String merge = "Merge-Type: list(append)+dict(no_replace,recurse_list)+str()\n";
    return "Content-Type: multipart/mixed; boundary=\""
        + BOUNDARY
        + "\"\nMIME-Version: 1.0\n\n"
        + ("--" + BOUNDARY + "\n" + head + merge + "\n" + ours + "\n")
        + ("--" + BOUNDARY + "\n" + head + merge + "\n" + theirs + "\n")
        + ("--" + BOUNDARY + "--\n");
  }

  private static String quoted(String text) {
    return "'" + text.replace("'", "''") + "'";
  }

  private static String packed(byte[] content) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    try (GZIPOutputStream gzip = new GZIPOutputStream(out)) {
      gzip.write(content);
    } catch (IOException e) {
      throw new UncheckedIOException("compressing in memory", e);
    }
    return Base64.getEncoder().encodeToString(out.toByteArray());
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}

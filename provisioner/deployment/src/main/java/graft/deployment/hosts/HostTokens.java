package graft.deployment.hosts;

import graft.common.GraftException;
import graft.common.grants.TokensFile;
import graft.common.values.Name;
import graft.deployment.descriptor.Descriptor;
import graft.deployment.descriptor.DescriptorFile;
import graft.deployment.descriptor.HostSplit;
import graft.deployment.descriptor.Node;
import graft.deployment.descriptor.hosts.RemoteGuest;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * The tokens with which guests use GPUs of other hosts. Each is made once, and its file is named by
 * a checksum of it, so that another token is another file, which apply brings to its place.
 */
final class HostTokens implements HostSplit.TokenFiles {
  private static final int DIGITS = 12;

  private final DescriptorFile file;

  /** By {@code GUEST.GPU}. */
  private final Map<String, String> made;

  /** The contents of the files, by their names. */
  private final Map<String, String> contents = new HashMap<>();

  /**
   * The tokens of a deployment.
   *
   * @param made those of earlier commands; new ones are added
   */
  HostTokens(DescriptorFile file, Map<String, String> made) {
    this.file = file;
    this.made = new TreeMap<>(made);
  }

  @Override
  public String of(Name guest, Name gpu) {
    String key = guest + "." + gpu;
    return named(key, made.computeIfAbsent(key, absent -> TokensFile.fresh()));
  }

  @Override
  public String of(Node node) {
    Path token = file.resolve(node.tokenFile());
    try {
      String content = Files.readString(token).strip();
      if (!HostRequest.isToken(content)) {
        throw new IOException("it is not one line of printable characters");
      }
      return named("node-" + node.name(), content);
    } catch (IOException e) {
      throw new GraftException(
          "the token of the node '" + node.name() + "' cannot be read: " + e.getMessage(),
          "write a token of its server's list to " + token + ", mode 0600",
          e);
    }
  }

  private String named(String key, String token) {
    String name = key + "." + digits(token) + ".token";
    contents.put(name, token);
    return name;
  }

  private static String digits(String token) {
    try {
      byte[] sum =
          MessageDigest.getInstance("SHA-256").digest(token.getBytes(StandardCharsets.UTF_8));
      return HexFormat.of().formatHex(sum).substring(0, DIGITS);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }

  /** The tokens that were made, by guest and GPU. */
  Map<String, String> made() {
    return made;
  }

  /** The files that a host's descriptor names, with their contents. */
  Map<String, String> filesOf(Descriptor descriptor) {
    Map<String, String> files = new TreeMap<>();
    Stream.of(
            descriptor.nodes().stream().map(Node::tokenFile),
            descriptor.remoteGuests().stream().map(RemoteGuest::tokenFile),
            descriptor.guests().stream()
                .flatMap(guest -> guest.vgpus().stream())
                .flatMap(vgpu -> vgpu.tokenFile().stream()))
        .flatMap(names -> names)
        .forEach(name -> files.put(name, contents.get(name)));
    return files;
  }
}

package graft.cli;

import graft.common.json.Json;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.stream.Stream;

/**
 * The distribution's bill of materials in CycloneDX's format: that of the jars, which Maven makes,
 * and what is no jar: the Java runtime, the C programs and libraries. distribution/assemble.sh
 * calls this class.
 *
 * @see <a href="https://cyclonedx.org/docs/1.6/json/">CycloneDX 1.6</a>
 */
final class Materials {
  private Materials() {}

  /**
   * Adds to the bill {@code args[0]} what is in the folder {@code args[1]}; writes {@code args[2]}.
   */
  public static void main(String[] args) throws IOException {
    Map<String, Object> bill = Json.readObject(Files.readString(Path.of(args[0])));
    Files.writeString(Path.of(args[2]), Json.pretty(with(bill, Path.of(args[1]))) + "\n");
  }

  /** The bill with the parts of a distribution that are no jars. */
  static Map<String, Object> with(Map<String, Object> bill, Path home) throws IOException {
    Map<String, Object> whole = new LinkedHashMap<>(bill);
    List<Object> components = new ArrayList<>((List<?>) bill.getOrDefault("components", List.of()));
    components.add(runtime(home.resolve("runtime/release")));
    for (Path program : programs(home)) {
      components.add(program(home, program));
    }
    whole.put("components", components);
    return whole;
  }

  /** The Java runtime, by the file that says what it is. */
  private static Map<String, Object> runtime(Path release) throws IOException {
    Properties properties = new Properties();
    try (var reader = Files.newBufferedReader(release)) {
      properties.load(reader);
    }
    String version = properties.getProperty("JAVA_VERSION", "").replace("\"", "");
    Map<String, Object> component = new LinkedHashMap<>();
    component.put("type", "platform");
    component.put("bom-ref", "runtime");
    component.put("name", "openjdk");
    component.put("version", version);
    component.put(
        "description",
        "The Java runtime, made by jlink of the build host's JDK; modules "
            + properties.getProperty("MODULES", "").replace("\"", ""));
    component.put("purl", "pkg:generic/openjdk@" + version);
    component.put("cpe", "cpe:2.3:a:oracle:openjdk:" + version + ":*:*:*:*:*:*:*");
    component.put("hashes", hashes(release.resolveSibling("lib/modules")));
    return component;
  }

  /** The executable files and libraries beside the runtime, in the order of their names. */
  private static List<Path> programs(Path home) throws IOException {
    List<Path> found = new ArrayList<>();
    for (String folder :
        List.of("lib", "lib/client", "lib/client/bench", "lib/client/cupti", "lib/compare")) {
      Path there = home.resolve(folder);
      if (Files.isDirectory(there)) {
        try (Stream<Path> files = Files.list(there)) {
          files.filter(Materials::isElf).forEach(found::add);
        }
      }
    }
    found.sort(null);
    return found;
  }

  private static boolean isElf(Path file) {
    if (!Files.isRegularFile(file) || Files.isSymbolicLink(file)) {
      return false;
    }
    try (var in = Files.newInputStream(file)) {
      return HexFormat.of().formatHex(in.readNBytes(4)).equals("7f454c46");
    } catch (IOException e) {
      return false;
    }
  }

  private static Map<String, Object> program(Path home, Path file) throws IOException {
    String name = file.getFileName().toString();
    boolean library = name.contains(".so");
    // JCuda's library comes with its jar, which the bill of the jars names by its version.
    boolean own = !name.startsWith("libJCuda");
    Map<String, Object> component = new LinkedHashMap<>();
    component.put("type", library ? "library" : "application");
    component.put("bom-ref", home.relativize(file).toString());
    component.put("name", home.relativize(file).toString());
    component.put("version", own ? graft.cli.terminal.Version.text() : version(name));
    component.put("hashes", hashes(file));
    return component;
  }

  /** The version in a name such as {@code libJCudaDriver-12.6.0-linux-x86_64.so}. */
  private static String version(String name) {
    return name.replaceFirst("^[^-]*-([0-9.]+)-.*$", "$1");
  }

  private static List<Map<String, Object>> hashes(Path file) throws IOException {
    try {
      byte[] hash = MessageDigest.getInstance("SHA-256").digest(Files.readAllBytes(file));
      Map<String, Object> entry = new LinkedHashMap<>();
      entry.put("alg", "SHA-256");
      entry.put("content", HexFormat.of().formatHex(hash));
      return List.of(entry);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e); // every Java has it
    }
  }
}

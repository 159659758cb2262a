package graft.deployment.hosts;

import graft.common.GraftException;
import graft.common.program.HostProgram;
import graft.common.values.MemorySize;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.security.DigestOutputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Stream;

/**
 * This Graft's programs, which are brought to hosts. They are named by what is in them, so that the
 * same ones have the same name on each machine, and others never do.
 */
public final class HostBundle implements AutoCloseable {
  private static final Duration PACKING = Duration.ofMinutes(5);
  private static final int DIGITS = 12;

  /** What differs between machines with the same programs, or follows from {@code made-from}. */
  private static final List<String> NOT_NAMED = List.of("share", "runtime", "examples");

  private final Path home;
  private final String version;
  private String name;
  private Path archive;

  /**
   * The programs of a folder.
   *
   * @param home the folder with {@code bin/graft}
   * @param version for the name
   */
  public HostBundle(Path home, String version) {
    this.home = home;
    this.version = version.replaceAll("[^A-Za-z0-9._-]", "");
  }

  /**
   * Its name: the version, and digits of a checksum of its files.
   *
   * @throws GraftException if there are none
   */
  public synchronized String name() {
    if (name == null) {
      if (!Files.isExecutable(home.resolve("bin/graft"))) {
        throw new GraftException(
            "this Graft has no folder with its programs, which hosts could get",
            "run it from its distribution: ./graft build, or tar -xzf graft-linux-x86_64.tar.gz");
      }
      name = version + "-" + checksum();
    }
    return name;
  }

  private String checksum() {
    try (Stream<Path> walk = Files.walk(home)) {
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      for (Path file : walk.filter(this::isNamed).sorted().toList()) {
        digest.update(home.relativize(file).toString().getBytes(StandardCharsets.UTF_8));
        try (OutputStream out = new DigestOutputStream(OutputStream.nullOutputStream(), digest)) {
          Files.copy(file, out);
        }
      }
      return HexFormat.of().formatHex(digest.digest()).substring(0, DIGITS);
    } catch (IOException e) {
      throw new GraftException(
          "cannot read the programs in " + home + ": " + e.getMessage(), "", e);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }

  private boolean isNamed(Path file) {
    Path path = home.relativize(file);
    boolean left = NOT_NAMED.contains(path.getName(0).toString()) && !path.endsWith("made-from");
    return isPacked(file) && !left;
  }

  /** A host makes the class archives of its Java itself. */
  private boolean isPacked(Path file) {
    return Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)
        && !home.relativize(file).toString().contains(".jsa");
  }

  /** How much space the programs need on a host. */
  MemorySize unpacked() {
    try (Stream<Path> walk = Files.walk(home)) {
      return new MemorySize(
          walk.filter(this::isPacked).mapToLong(file -> file.toFile().length()).sum());
    } catch (IOException e) {
      throw new GraftException(
          "cannot read the programs in " + home + ": " + e.getMessage(), "", e);
    }
  }

  /**
   * The programs as a tar archive, compressed by gzip.
   *
   * @throws GraftException if it cannot be made
   */
  InputStream open() throws IOException {
    return Files.newInputStream(archive());
  }

  private synchronized Path archive() throws IOException {
    if (archive == null) {
      Path file = Files.createTempFile("graft-hosts", ".tar.gz");
      archive = file;
      ByteArrayOutputStream said = new ByteArrayOutputStream();
      HostProgram.End end =
          HostProgram.of(
                  "tar",
                  List.of(
                      "-C",
                      home.toString(),
                      "--exclude=./lib/graft.jsa",
                      "--exclude=./graft.jsa.*",
                      "-I",
                      "gzip -1",
                      "-cf",
                      file.toString(),
                      "."))
              .run(PACKING, InputStream.nullInputStream(), said, said);
      if (end.code() != 0) {
        throw new GraftException(
            "cannot pack the programs of "
                + home
                + ": "
                + said.toString(StandardCharsets.UTF_8).strip(),
            "is there space on the disk of " + file.getParent() + "?");
      }
    }
    return archive;
  }

  @Override
  public void close() throws IOException {
    if (archive != null) {
      Files.deleteIfExists(archive);
    }
  }
}

package graft.cli.slurm;

import graft.common.GraftException;
import graft.common.disk.PrivateFiles;
import graft.common.grants.TokensFile;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.nio.file.attribute.UserPrincipal;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The files of a pool: its scripts and its key in a folder of its own, and what Slurm and cron
 * read. Slurm's files are changed last, and each at once, so that an installation that was killed
 * has changed nothing for jobs; {@link #remove} removes whatever is there.
 */
final class PoolFiles {
  private static final List<String> SCRIPTS =
      List.of(
          "common.sh",
          "prolog-slurmctld",
          "epilog-slurmctld",
          "prolog",
          "epilog",
          "task-prolog",
          "sweep");

  private static final Set<PosixFilePermission> READABLE =
      PosixFilePermissions.fromString("rw-r--r--");
  private static final Set<PosixFilePermission> EXECUTABLE =
      PosixFilePermissions.fromString("rwxr-xr-x");

  private final Path folder;

  PoolFiles(Path folder) {
    this.folder = folder.toAbsolutePath().normalize();
  }

  /** Whether a pool is installed in the folder, be it in part. */
  boolean isThere() {
    return Files.exists(folder.resolve("pool.conf"));
  }

  /** What {@code pool.conf} says; empty if there is none. */
  Map<String, String> pool() {
    try {
      return isThere() ? SlurmPool.read(Files.readString(folder.resolve("pool.conf"))) : Map.of();
    } catch (IOException e) {
      throw failed(folder.resolve("pool.conf"), e);
    }
  }

  /** The lines that the pool needs in slurm.conf. */
  List<String> slurmConf(SlurmPool pool) {
    Map<String, String> keys = new LinkedHashMap<>();
    keys.put("GresTypes", "graft");
    keys.put("Licenses", "graft:" + pool.licenses());
    keys.put("JobSubmitPlugins", "lua");
    keys.put("PrologSlurmctld", folder + "/prolog-slurmctld");
    keys.put("EpilogSlurmctld", folder + "/epilog-slurmctld");
    keys.put("Prolog", folder + "/prolog");
    keys.put("Epilog", folder + "/epilog");
    keys.put("TaskProlog", folder + "/task-prolog");
    keys.put("SlurmctldPrimaryOnProg", folder + "/sweep");
    List<String> lines = new ArrayList<>();
    keys.forEach((key, value) -> lines.add(key + "=" + value));
    // Nodes whose own line says nothing of Gres have the client; the others have GPUs.
    lines.add("NodeName=DEFAULT Gres=graft:no_consume:" + pool.licenses());
    return lines;
  }

  /** The lines that the pool needs in gres.conf. */
  static List<String> gresConf(SlurmPool pool) {
    return List.of("Name=graft Count=" + pool.licenses() + " Flags=CountOnly");
  }

  /** The script by which Slurm's plug-in job_submit/lua asks the pool. */
  String jobSubmit() {
    return resource("job_submit.lua").replace("@FOLDER@", folder.toString());
  }

  /** The file that has cron run the sweep as a user. */
  String cron(String user) {
    return "# Written by graft slurm install.\n* * * * * " + user + " " + folder + "/sweep\n";
  }

  /**
   * Writes the folder: the scripts, and a new key that the user of slurmctld can read.
   *
   * @param user SlurmUser
   * @param path where the scripts look for programs
   */
  void write(SlurmPool pool, UserPrincipal user, String path) {
    try {
      Files.createDirectories(folder);
      Files.setPosixFilePermissions(folder, EXECUTABLE);
      replace(folder.resolve("pool.conf"), pool.text(path), READABLE);
      for (String script : SCRIPTS) {
        boolean isSourced = script.endsWith(".sh");
        replace(folder.resolve(script), resource(script), isSourced ? READABLE : EXECUTABLE);
      }
      String lua = resource("graft.lua").replace("@MOST@", String.valueOf(pool.most()));
      replace(folder.resolve("graft.lua"), lua, READABLE);
      own(folder.resolve("key"), TokensFile.fresh() + "\n", user);

      Path state = Path.of(pool.state());
      if (!Files.exists(state)) {
        Files.createDirectories(state.getParent());
        PrivateFiles.makeFolder(state);
        Files.setOwner(state, user);
      }
      if (!Files.exists(state.resolve("tokens"))) {
        own(state.resolve("tokens"), "", user);
      }
    } catch (IOException e) {
      throw failed(folder, e);
    }
  }

  private static void own(Path file, String text, UserPrincipal user) throws IOException {
    PrivateFiles.write(file, text.getBytes(StandardCharsets.UTF_8));
    Files.setOwner(file, user);
  }

  /** The user of a name. */
  static UserPrincipal user(String name) {
    try {
      return FileSystems.getDefault().getUserPrincipalLookupService().lookupPrincipalByName(name);
    } catch (IOException e) {
      throw new GraftException("there is no user " + name, "SlurmUser of slurm.conf names it", e);
    }
  }

  /** Removes the folder's files, the key among them. */
  void remove() {
    try {
      List<String> names = new ArrayList<>(SCRIPTS);
      names.addAll(List.of("graft.lua", "key", "pool.conf")); // the last one says what is there
      for (String name : names) {
        PrivateFiles.delete(folder.resolve(name));
      }
      try (var left = Files.list(folder)) {
        if (left.findAny().isPresent()) {
          return;
        }
      }
      Files.delete(folder);
    } catch (IOException e) {
      throw failed(folder, e);
    }
  }

  /** The files of the folder that are not as this release of Graft writes them. */
  List<String> changed() {
    List<String> changed = new ArrayList<>();
    for (String script : SCRIPTS) {
      if (!text(folder.resolve(script)).equals(resource(script))) {
        changed.add(folder.resolve(script).toString());
      }
    }
    if (!Files.exists(folder.resolve("key"))) {
      changed.add(folder.resolve("key").toString());
    }
    return changed;
  }

  /** The text of a file; empty if there is none. */
  static String text(Path file) {
    try {
      return Files.exists(file) ? Files.readString(file) : "";
    } catch (IOException e) {
      throw failed(file, e);
    }
  }

  /** Replaces a file at once; one that is there keeps its owner and its mode. */
  static void replace(Path file, String text) {
    try {
      Path real = Files.exists(file) ? file.toRealPath() : file;
      replace(real, text, Files.exists(real) ? Files.getPosixFilePermissions(real) : READABLE);
    } catch (IOException e) {
      throw failed(file, e);
    }
  }

  private static void replace(Path file, String text, Set<PosixFilePermission> mode)
      throws IOException {
    Path unfinished = file.resolveSibling("." + file.getFileName() + ".graft");
    Files.deleteIfExists(unfinished);
    PrivateFiles.write(unfinished, text.getBytes(StandardCharsets.UTF_8));
    if (Files.exists(file)) {
      Files.setOwner(unfinished, Files.getOwner(file, LinkOption.NOFOLLOW_LINKS));
    }
    Files.setPosixFilePermissions(unfinished, mode);
    Files.move(unfinished, file, StandardCopyOption.ATOMIC_MOVE);
  }

  static void delete(Path file) {
    try {
      Files.deleteIfExists(file);
    } catch (IOException e) {
      throw failed(file, e);
    }
  }

  private static GraftException failed(Path file, IOException e) {
    return new GraftException(
        "cannot read or write " + file + ": " + e, "run this as root on Slurm's controller", e);
  }

  private static String resource(String name) {
    try (InputStream in = PoolFiles.class.getResourceAsStream(name)) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}

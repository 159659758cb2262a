package graft.deployment;

import graft.common.GraftException;
import graft.common.disk.PrivateFiles;
import graft.common.json.Json;
import graft.deployment.journal.JournalState;
import graft.deployment.plan.Action;
import graft.deployment.plan.Plan;
import graft.deployment.step.StepCodec;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * A plan that somebody has looked at, in a file. Its steps are never carried out: {@code apply}
 * makes the plan again from the descriptor that the file names, and compares the two. The file
 * holds a checksum of each step in place of its settings.
 *
 * @param descriptor the descriptor, an absolute path
 * @param run the number of the last apply before the plan was made
 * @param made when the plan was made
 */
public record SavedPlan(
    String deployment,
    Path descriptor,
    String uri,
    long run,
    Instant made,
    List<SavedAction> actions) {
  private static final String FORMAT = "graftPlan";
  private static final long VERSION = 1;
  private static final long LARGEST = 16 << 20;
  private static final int BEGINNING = 64;
  private static final int OTHERS_WRITE = 022;

  /**
   * A line of the plan.
   *
   * @param line what people read: {@code guest alice: + start it}
   * @param checksum of the action with all settings of its step
   */
  public record SavedAction(String line, String checksum) {
    static SavedAction of(Action action) {
      Map<String, Object> tree = new TreeMap<>();
      tree.put("kind", action.kind().name());
      tree.put("id", action.step().id());
      tree.put("type", action.step().getClass().getSimpleName());
      tree.put("step", sorted(StepCodec.write(action.step())));
      return new SavedAction(action.step().chain() + ": " + action, sha256(Json.line(tree)));
    }

    private static Object sorted(Object tree) {
      if (tree instanceof Map<?, ?> map) {
        Map<String, Object> sorted = new TreeMap<>();
        map.forEach((key, value) -> sorted.put(String.valueOf(key), sorted(value)));
        return sorted;
      }
      return tree instanceof List<?> list ? list.stream().map(SavedAction::sorted).toList() : tree;
    }

    private static String sha256(String text) {
      try {
        MessageDigest digest = MessageDigest.getInstance("SHA-256");
        return HexFormat.of().formatHex(digest.digest(text.getBytes(StandardCharsets.UTF_8)));
      } catch (NoSuchAlgorithmException e) {
        throw new IllegalStateException("Java without SHA-256", e);
      }
    }
  }

  /** A plan as it is now. */
  public static SavedPlan of(Plan plan, JournalState journal, Path descriptor, Instant now) {
    return new SavedPlan(
        plan.deployment(),
        descriptor.toAbsolutePath().normalize(),
        plan.uri(),
        journal.lastRun(),
        now,
        plan.actions().stream().map(SavedAction::of).toList());
  }

  /** Whether a file begins as a saved plan does; a descriptor never does. */
  public static boolean isOne(Path file) {
    if (!Files.isRegularFile(file)) {
      return false;
    }
    try (var in = Files.newInputStream(file)) {
      String beginning = new String(in.readNBytes(BEGINNING), StandardCharsets.UTF_8);
      return beginning.matches("(?s)\\s*\\{\\s*\"" + FORMAT + "\".*");
    } catch (IOException e) {
      return false;
    }
  }

  /**
   * Writes the file, which only its owner may read and write.
   *
   * @throws GraftException if there is something else than a saved plan, which it would replace
   */
  public void write(Path file) {
    if (Files.exists(file, LinkOption.NOFOLLOW_LINKS) && !isOne(file)) {
      throw new GraftException(
          file + " is no saved plan, and is not replaced by one", "name another file");
    }
    Map<String, Object> tree = new LinkedHashMap<>();
    tree.put(FORMAT, VERSION);
    tree.put("deployment", deployment);
    tree.put("descriptor", descriptor.toString());
    tree.put("uri", uri);
    tree.put("run", run);
    tree.put("made", made.toString());
    List<Object> list = new ArrayList<>();
    for (SavedAction action : actions) {
      Map<String, Object> one = new LinkedHashMap<>();
      one.put("line", action.line());
      one.put("checksum", action.checksum());
      list.add(one);
    }
    tree.put("actions", list);
    try {
      PrivateFiles.write(
          file.toAbsolutePath(), (Json.pretty(tree) + "\n").getBytes(StandardCharsets.UTF_8));
    } catch (IOException e) {
      throw new GraftException("cannot write the plan " + file + ": " + e.getMessage(), "", e);
    }
  }

  /**
   * Reads a file.
   *
   * @throws GraftException if it is damaged, of a later version, or if others may have written it
   */
  public static SavedPlan read(Path file) {
    try {
      checkAccess(file);
      if (Files.size(file) > LARGEST) {
        throw new IllegalArgumentException("it has more than " + LARGEST + " bytes");
      }
      return of(Json.readObject(Files.readString(file)));
    } catch (IOException | IllegalArgumentException | ClassCastException e) {
      throw new GraftException(
          "the plan " + file + " is not readable: " + reason(e),
          "make it again: graft plan --out " + file + " DESCRIPTOR",
          e);
    }
  }

  /** What a damaged file holds instead is not quoted: it may be anything. */
  private static String reason(Exception e) {
    return e instanceof ClassCastException || e.getMessage() == null
        ? "a field has another type"
        : e.getMessage().lines().findFirst().orElse("");
  }

  /** Whoever can write the file chooses the descriptor that is applied. */
  private static void checkAccess(Path file) throws IOException {
    int mode = (Integer) Files.getAttribute(file, "unix:mode");
    Object owner = Files.getAttribute(file, "unix:uid");
    Object self = Files.getAttribute(Path.of("/proc/self"), "unix:uid");
    if ((mode & OTHERS_WRITE) != 0 || !(owner.equals(self) || owner.equals(0))) {
      throw new GraftException(
          "other users can write to the plan " + file + ", and it would be done with your rights",
          "make it again in a folder of your own");
    }
  }

  private static SavedPlan of(Map<String, Object> tree) {
    Object version = tree.get(FORMAT);
    if (!Long.valueOf(VERSION).equals(version)) {
      throw new IllegalArgumentException(
          "its version is not " + VERSION + ", the only one that this version of Graft reads");
    }
    Path descriptor = Path.of(text(tree, "descriptor"));
    if (!descriptor.isAbsolute()) {
      throw new IllegalArgumentException("its descriptor is no absolute path");
    }
    List<SavedAction> actions = new ArrayList<>();
    for (Object one : (List<?>) present(tree, "actions")) {
      Map<?, ?> action = (Map<?, ?>) one;
      actions.add(new SavedAction(text(action, "line"), text(action, "checksum")));
    }
    return new SavedPlan(
        text(tree, "deployment"),
        descriptor,
        text(tree, "uri"),
        (Long) present(tree, "run"),
        time(text(tree, "made")),
        List.copyOf(actions));
  }

  private static Instant time(String text) {
    try {
      return Instant.parse(text);
    } catch (java.time.DateTimeException e) {
      throw new IllegalArgumentException("its time is none", e);
    }
  }

  private static String text(Map<?, ?> tree, String key) {
    return (String) present(tree, key);
  }

  private static Object present(Map<?, ?> tree, String key) {
    Object value = tree.get(key);
    if (value == null) {
      throw new IllegalArgumentException("it has no '" + key + "'");
    }
    return value;
  }

  /**
   * Compares with a plan that is made now.
   *
   * @throws StalePlanException if they differ, or if something was applied in between
   */
  public void require(Plan now, JournalState journal) {
    SavedPlan other = of(now, journal, descriptor, made);
    List<String> differences = new ArrayList<>();
    if (!deployment.equals(other.deployment)) {
      differences.add("the deployment is " + other.deployment + ", not " + deployment);
    }
    if (!uri.equals(other.uri)) {
      differences.add("the guests' libvirt is " + other.uri + ", not " + uri);
    }
    if (run != other.run) {
      differences.add("the deployment was applied since");
    }
    differences.addAll(differences(other));
    if (!differences.isEmpty()) {
      throw new StalePlanException(made, descriptor, differences);
    }
  }

  private List<String> differences(SavedPlan other) {
    List<String> differences = new ArrayList<>();
    for (SavedAction action : actions) {
      if (!other.actions.contains(action)) {
        differences.add("no longer " + action.line());
      }
    }
    for (SavedAction action : other.actions) {
      if (!actions.contains(action)) {
        differences.add("now " + action.line());
      }
    }
    if (differences.isEmpty() && !actions.equals(other.actions)) {
      differences.add("the order of the steps is another one");
    }
    return differences;
  }
}

package graft.deployment.journal;

import graft.common.GraftException;
import graft.common.json.Json;
import graft.deployment.step.Step;
import graft.deployment.step.StepCodec;
import graft.deployment.step.guest.GrantAccess;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Computes the state of a journal from its records. */
final class JournalReplay {
  private static final String REVOKE = "revoke ";

  private final StepCodec codec;
  private final Map<String, Entry> entries = new LinkedHashMap<>();

  /** What was there before the last apply, and can be restored. */
  private final Map<String, Entry> former = new LinkedHashMap<>();

  /** The guests whose access was revoked and not granted again since. */
  private final Set<String> revoked = new LinkedHashSet<>();

  private String command = "";
  private long lastRun;
  private String descriptor = "";
  private String uri = "";
  private long wholeBytes;

  private JournalReplay(StepCodec codec) {
    this.codec = codec;
  }

  /** Replays a file; nothing if it does not exist. */
  static JournalReplay of(Path file, StepCodec codec) throws IOException {
    JournalReplay replay = new JournalReplay(codec);
    if (!Files.exists(file)) {
      return replay;
    }
    byte[] bytes = Files.readAllBytes(file);
    int start = 0;
    int number = 1;
    for (int i = 0; i < bytes.length; i++) {
      if (bytes[i] == '\n') {
        String line = new String(bytes, start, i - start, StandardCharsets.UTF_8);
        replay.line(file, number++, line);
        start = i + 1;
      }
    }
    replay.wholeBytes = start;
    return replay;
  }

  private void line(Path file, int number, String line) {
    try {
      accept(Json.readObject(line));
    } catch (IOException | RuntimeException e) {
      throw new GraftException(
          "the journal " + file + " is not readable at line " + number + ": " + e.getMessage(),
          "nothing was changed: use the version of Graft that wrote it; if it is damaged, undo by"
              + " hand the steps that it names, then delete its folder",
          e);
    }
  }

  /** Adds one record. */
  void accept(Map<String, Object> record) {
    String id = String.valueOf(record.get("id"));
    switch (String.valueOf(record.get("event"))) {
      case "run" -> {
        requireVersion(record.get("version"));
        command = String.valueOf(record.get("command"));
        if (command.equals("apply")) {
          former.clear();
          former.putAll(entries);
          revoked.forEach(this::forgetGrant);
          lastRun = (Long) record.get("run");
          descriptor = String.valueOf(record.get("descriptor"));
          uri = String.valueOf(record.get("uri"));
        } else if (command.startsWith(REVOKE)) {
          revoked.add(command.substring(REVOKE.length()));
          forgetGrant(command.substring(REVOKE.length()));
        }
      }
      case "begin" -> {
        Object kind = record.getOrDefault("kind", record.get("type")); // version 1
        Step step = codec.read(String.valueOf(kind), tree(record.get("step")));
        // A step that is done again keeps its place in the order: steps that depend on it are
        // undone first.
        Map<String, Object> before = FormerRecords.before(tree(record.get("before")));
        long run = (Long) record.get("run");
        entries.put(id, new Entry(step, run, Entry.Status.BEGUN, before, Map.of()));
      }
      case "done" -> {
        change(id, Entry.Status.DONE, tree(record.get("result")));
        if (entries.get(id).step() instanceof GrantAccess grant) {
          revoked.remove(grant.guest());
        }
      }
      case "failed" -> change(id, Entry.Status.FAILED, Map.of());
      case "undoing" -> change(id, Entry.Status.UNDOING, Map.of());
      case "undone" -> {
        entries.remove(id);
        if (!command.equals("apply") && !command.equals("undo")) {
          former.remove(id); // detach, destroy: it was not the last apply that removed it
        }
      }
      case "end" -> {}
      default -> throw new IllegalArgumentException("unknown event " + record.get("event"));
    }
  }

  /** An undo must not give a guest the access that was revoked before or after the apply. */
  private void forgetGrant(String guest) {
    former
        .values()
        .removeIf(e -> e.step() instanceof GrantAccess grant && grant.guest().equals(guest));
  }

  private static void requireVersion(Object version) {
    if (version instanceof Number number && number.longValue() > Journal.VERSION) {
      throw new IllegalArgumentException(
          "its records are of version "
              + version
              + ", and this version of Graft reads versions up to "
              + Journal.VERSION);
    }
  }

  private void change(String id, Entry.Status status, Map<String, Object> result) {
    Entry entry = entries.get(id);
    if (entry == null) {
      throw new IllegalArgumentException("'" + id + "' was never begun");
    }
    entries.put(id, new Entry(entry.step(), entry.run(), status, entry.before(), result));
  }

  @SuppressWarnings("unchecked")
  private static Map<String, Object> tree(Object value) {
    return value == null ? Map.of() : (Map<String, Object>) value;
  }

  Optional<Entry> entry(String id) {
    return Optional.ofNullable(entries.get(id));
  }

  JournalState state() {
    return new JournalState(entries, lastRun, descriptor, uri, former);
  }

  /** The length of the file up to the last whole record. */
  long wholeBytes() {
    return wholeBytes;
  }
}

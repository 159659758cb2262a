package graft.deployment.snapshot;

import graft.common.json.Json;
import graft.common.program.HostProgram;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;

/** qcow2 files, by qemu-img. QEMU's lock of a file keeps qemu-img from changing one in use. */
final class QemuImages implements DiskImages {
  private static final String PROGRAM = "qemu-img";
  private static final Duration LIMIT = Duration.ofMinutes(10);

  @Override
  public State read(Path image) throws IOException {
    // --force-share: the image may be in use. The format is never guessed from the content.
    return parse(
        run("info", "--output=json", "--force-share", "-f", "qcow2", "--", image.toString()));
  }

  /** Reads what {@code qemu-img info --output=json} prints. */
  static State parse(String json) throws IOException {
    try {
      Map<String, Object> info = Json.readObject(json);
      List<?> snapshots = (List<?>) info.getOrDefault("snapshots", List.of());
      return new State(
          number(info.get("actual-size")),
          snapshots.stream().map(one -> held((Map<?, ?>) one)).toList());
    } catch (RuntimeException e) {
      throw new IOException("qemu-img info printed something else than expected: " + json, e);
    }
  }

  private static Held held(Map<?, ?> one) {
    return new Held(
        (String) one.get("name"),
        Instant.ofEpochSecond(number(one.get("date-sec")), number(one.get("date-nsec"))),
        number(one.get("vm-state-size")) > 0);
  }

  private static long number(Object value) {
    return ((Number) value).longValue();
  }

  @Override
  public void create(Path image, SnapshotName name) throws IOException {
    change("-c", image, name);
  }

  @Override
  public void restore(Path image, SnapshotName name) throws IOException {
    change("-a", image, name);
  }

  @Override
  public void delete(Path image, SnapshotName name) throws IOException {
    change("-d", image, name);
  }

  private static void change(String how, Path image, SnapshotName name) throws IOException {
    run("snapshot", "-q", how, name.text(), "--", image.toString());
  }

  private static String run(String... arguments) throws IOException {
    return HostProgram.of(PROGRAM, List.of(arguments)).output(LIMIT);
  }
}

package graft.common.audit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import graft.common.json.Json;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class AuditLogTest {
  private static final Clock NOON =
      Clock.fixed(Instant.parse("2026-01-02T12:00:00.5Z"), ZoneOffset.UTC);

  @TempDir Path folder;
  private final List<String> trouble = new ArrayList<>();

  private AuditLog open() throws IOException {
    return AuditLog.file(folder.resolve("state/audit.jsonl"), NOON, trouble::add);
  }

  private String text() throws IOException {
    return Files.readString(folder.resolve("state/audit.jsonl"));
  }

  @Test
  void anEventIsALine() throws Exception {
    open().write("connect", "alice", "10.0.0.2:999", Map.of("session", 7));
    assertThat(text())
        .isEqualTo(
            "{\"at\":\"2026-01-02T12:00:00.500Z\",\"event\":\"connect\",\"who\":\"alice\","
                + "\"from\":\"10.0.0.2:999\",\"session\":7}\n");
    assertThat(
            PosixFilePermissions.toString(Files.getPosixFilePermissions(folder.resolve("state"))))
        .isEqualTo("rwx------");
  }

  @Test
  void hostileTextMakesNoSecondLineAndIsCut() throws Exception {
    String hostile = "a\n{\"event\":\"apply\"}\u0000\u001b[2J\"" + "x".repeat(10_000);
    open().write("refused", hostile, hostile, Map.of("reason", hostile, "list", List.of(hostile)));
    assertThat(text().lines()).hasSize(1);
    assertThat(text()).hasSizeLessThan(2_000).doesNotContain("\u001b");
    assertThat(Json.readObject(text()).get("event")).isEqualTo("refused");
  }

  @Test
  void theFileIsRenamedAndFewAreKept() throws Exception {
    RotatedFile file = new RotatedFile(folder.resolve("log"), 100, 2);
    for (int i = 0; i < 100; i++) {
      byte[] line = "%049d\n".formatted(i).getBytes(StandardCharsets.US_ASCII);
      file.append(line, 0, line.length);
    }
    assertThat(Files.readString(folder.resolve("log"))).contains("98\n", "99\n");
    assertThat(Files.readString(folder.resolve("log.1"))).contains("96\n", "97\n");
    assertThat(Files.readString(folder.resolve("log.2"))).contains("94\n", "95\n");
    assertThat(folder.resolve("log.3")).doesNotExist();
    for (Path part : RotatedFile.parts(folder.resolve("log"))) {
      if (Files.exists(part)) {
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(part)))
            .as("%s", part)
            .isEqualTo("rw-------");
      }
    }
  }

  @Test
  void threadsThatHaveOpenedTheSameFileEachWriteTheirLines() throws Exception {
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      Thread thread =
          new Thread(
              () -> {
                for (int j = 0; j < 50; j++) {
                  try {
                    open().write("token", "alice", "local", Map.of());
                  } catch (Exception e) {
                    synchronized (trouble) {
                      trouble.add(e.toString());
                    }
                  }
                }
              });
      thread.start();
      threads.add(thread);
    }
    for (Thread thread : threads) {
      thread.join();
    }
    assertThat(trouble).isEmpty();
    assertThat(text().lines()).hasSize(400);
  }

  @Test
  void aLinkInPlaceOfTheFileIsNotFollowed() throws Exception {
    Path victim = Files.writeString(folder.resolve("victim"), "precious");
    Files.createSymbolicLink(folder.resolve("log"), victim);
    RotatedFile file = new RotatedFile(folder.resolve("log"), 100, 2);
    assertThatThrownBy(() -> file.append(new byte[1], 0, 1)).isInstanceOf(IOException.class);
    assertThat(victim).hasContent("precious");
  }

  @Test
  void whatCannotBeWrittenIsReportedOnce() throws Exception {
    AuditLog log = open();
    Files.delete(folder.resolve("state/audit.jsonl"));
    Files.createDirectory(folder.resolve("state/audit.jsonl"));
    log.write("connect", "a", "b", Map.of());
    log.write("connect", "a", "b", Map.of());
    assertThat(trouble).hasSize(1).first().asString().contains("audit.jsonl");
  }
}

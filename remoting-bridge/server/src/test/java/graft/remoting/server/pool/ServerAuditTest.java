package graft.remoting.server.pool;

import static org.assertj.core.api.Assertions.assertThat;

import graft.common.audit.AuditLog;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A flood of refused connections leaves a few lines a second. */
class ServerAuditTest {
  @TempDir Path folder;
  private final AtomicLong now = new AtomicLong();
  private Path file;
  private ServerAudit audit;

  @BeforeEach
  void open() throws IOException {
    file = folder.resolve("audit.jsonl");
    audit = new ServerAudit(AuditLog.open(file.toString(), message -> {}), now::get);
  }

  private List<String> lines() throws IOException {
    return Files.readAllLines(file);
  }

  @Test
  void manyRefusalsOfASourceAreOneLineAndASum() throws Exception {
    for (int i = 0; i < 10_000; i++) {
      audit.refused("refused", "", "10.0.0.7", "10.0.0.7:" + i, "wrong token");
    }
    assertThat(lines()).hasSize(1).first().asString().contains("10.0.0.7:0", "wrong token");
    now.addAndGet(1_000_000_000L);
    audit.writeSums();
    assertThat(lines()).hasSize(2).last().asString().contains("\"count\":9999");
    audit.writeSums();
    assertThat(lines()).hasSize(2);
  }

  @Test
  void manySourcesAreFewLines() throws Exception {
    for (int i = 0; i < 10_000; i++) {
      audit.refused("refused", "", "source " + i, "source " + i + ":1", "wrong token");
    }
    now.addAndGet(1_000_000_000L);
    audit.writeSums();
    assertThat(lines()).hasSize(ServerAudit.LINES + 1);
    assertThat(lines().get(ServerAudit.LINES)).contains("other sources", "\"count\":9980");
  }
}

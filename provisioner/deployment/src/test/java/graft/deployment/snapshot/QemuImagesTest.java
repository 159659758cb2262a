package graft.deployment.snapshot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What qemu-img 7.2 prints of an image. */
class QemuImagesTest {
  @Test
  void theSnapshotsOfAnImageAreRead() throws Exception {
    DiskImages.State state =
        QemuImages.parse(
            """
            {
                "snapshots": [
                    {
                        "icount": 0,
                        "vm-clock-nsec": 0,
                        "name": "before",
                        "date-sec": 1790000000,
                        "date-nsec": 250000000,
                        "vm-clock-sec": 0,
                        "id": "1",
                        "vm-state-size": 0
                    },
                    {
                        "vm-clock-nsec": 814521000,
                        "name": "live",
                        "date-sec": 1790000001,
                        "date-nsec": 0,
                        "vm-clock-sec": 7,
                        "id": "2",
                        "vm-state-size": 57344000
                    }
                ],
                "virtual-size": 10485760,
                "filename": "root.qcow2",
                "cluster-size": 65536,
                "format": "qcow2",
                "actual-size": 274432,
                "format-specific": {"type": "qcow2", "data": {"compat": "1.1"}},
                "dirty-flag": false
            }
            """);
    assertThat(state.bytes()).isEqualTo(274432);
    assertThat(state.held())
        .containsExactly(
            new DiskImages.Held("before", Instant.parse("2026-09-21T14:13:20.250Z"), false),
            new DiskImages.Held("live", Instant.parse("2026-09-21T14:13:21Z"), true));
  }

  @Test
  void anImageMayHaveNone() throws Exception {
    assertThat(QemuImages.parse("{\"actual-size\": 7}").held()).isEmpty();
  }

  @Test
  void anythingElseIsAnError() {
    for (String json :
        List.of(
            "",
            "[]",
            "{}",
            "{\"actual-size\": \"7\"}",
            "{\"actual-size\": 7, \"snapshots\": {}}",
            "{\"actual-size\": 7, \"snapshots\": [1]}",
            "{\"actual-size\": 7, \"snapshots\": [{\"name\": \"one\"}]}")) {
      assertThatThrownBy(() -> QemuImages.parse(json)).as(json).isInstanceOf(IOException.class);
    }
  }
}

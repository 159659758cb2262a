package graft.deployment.descriptor;

import static org.assertj.core.api.Assertions.assertThat;

import graft.common.json.Json;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** The schema that is checked in is the one that the records give. */
class DescriptorSchemaTest {
  private static final Path CHECKED_IN = Path.of("../../docs/schema/descriptor.schema.json");

  @Test
  void theSchemaCheckedInIsCurrent() throws Exception {
    assertThat(Files.readString(CHECKED_IN))
        .as("run `./graft schema > docs/schema/descriptor.schema.json`")
        .isEqualTo(Json.pretty(DescriptorSchema.tree()) + "\n");
  }

  @Test
  void theReferenceCheckedInIsCurrent() throws Exception {
    assertThat(Files.readString(Path.of("../../docs/descriptor.md")))
        .as("run `./graft schema --markdown > docs/descriptor.md`")
        .isEqualTo(DescriptorSchema.reference());
  }
}

package graft.common.json;

import static org.assertj.core.api.Assertions.assertThat;

import graft.common.bind.Doc;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** The schema of trees, and the check of trees, say the same. */
class RecordSchemaTest {
  @Doc("A whole.")
  private record Whole(
      @Doc("Its name.") String name,
      int count,
      double part,
      boolean there,
      Optional<Long> since,
      List<Part> parts,
      Map<String, String> words,
      Map<String, Object> rest) {}

  private record Part(Path file, Optional<Part> inner) {}

  private static Map<String, Object> tree() {
    Map<String, Object> inner = new LinkedHashMap<>();
    inner.put("file", "/b");
    inner.put("inner", null);
    Map<String, Object> tree = new LinkedHashMap<>();
    tree.put("name", "a");
    tree.put("count", 3L);
    tree.put("part", 1);
    tree.put("there", true);
    tree.put("parts", new ArrayList<>(List.of(Map.of("file", "/a", "inner", inner))));
    tree.put("words", Map.of("x", "y"));
    tree.put("rest", Map.of("any", List.of(1, Map.of())));
    return tree;
  }

  private static List<String> problems(String key, Object value) {
    Map<String, Object> tree = tree();
    tree.put(key, value);
    return RecordSchema.problems(Whole.class, tree);
  }

  @Test
  void theSchemaHasTheFieldsOfTheRecords() throws Exception {
    String schema =
        Json.pretty(
            RecordSchema.of("A test", List.of(Whole.class), Map.of("version", Map.of("const", 1))));
    Map<String, Object> read = Json.readObject(schema);
    assertThat(read)
        .containsEntry("$schema", "https://json-schema.org/draft/2020-12/schema")
        .containsEntry("title", "A test")
        .containsEntry("description", "A whole.")
        .containsEntry("additionalProperties", false)
        .containsEntry(
            "required",
            List.of("version", "name", "count", "part", "there", "parts", "words", "rest"));
    Map<?, ?> properties = (Map<?, ?>) read.get("properties");
    assertThat(properties.get("name"))
        .isEqualTo(Map.of("description", "Its name.", "type", "string"));
    assertThat(properties.get("count")).isEqualTo(Map.of("type", "integer"));
    assertThat(properties.get("part")).isEqualTo(Map.of("type", "number"));
    assertThat(properties.get("since"))
        .isEqualTo(Map.of("anyOf", List.of(Map.of("type", "integer"), Map.of("type", "null"))));
    assertThat(properties.get("parts"))
        .isEqualTo(Map.of("type", "array", "items", Map.of("$ref", "#/$defs/Part")));
    assertThat(properties.get("rest"))
        .isEqualTo(Map.of("type", "object", "additionalProperties", Map.of()));
    assertThat((Map<?, ?>) read.get("$defs")).hasSize(1);
    assertThat(RecordSchema.of("Either", List.of(Whole.class, Part.class), Map.of()))
        .containsKey("anyOf")
        .doesNotContainKey("properties");
  }

  @Test
  void aTreeWithTheFieldsFits() {
    assertThat(RecordSchema.problems(Whole.class, tree())).isEmpty();
    assertThat(problems("since", 5L)).isEmpty();
    assertThat(problems("since", null)).isEmpty();
  }

  @Test
  void whatDoesNotFitIsNamedWithItsPlace() {
    assertThat(problems("more", 1)).containsExactly(".more is in no schema");
    assertThat(problems("name", 1)).containsExactly(".name is no string: 1");
    assertThat(problems("name", null)).containsExactly(".name is no string: null");
    assertThat(problems("count", 1.5)).containsExactly(".count is no integer: 1.5");
    assertThat(problems("there", "true")).containsExactly(".there is no boolean: true");
    assertThat(problems("since", "x")).containsExactly(".since is no integer: x");
    assertThat(problems("words", Map.of("x", 1))).containsExactly(".words.x is no string: 1");
    assertThat(problems("parts", "x")).containsExactly(".parts is no java.util.List: x");
    assertThat(problems("parts", Arrays.asList(Map.of("file", "/a"), Map.of())))
        .containsExactly(".parts[1].file is not there");
    assertThat(problems("parts", List.of("x"))).containsExactly(".parts[0] is no object: x");
    Map<String, Object> less = tree();
    less.remove("name");
    assertThat(RecordSchema.problems(Whole.class, less)).containsExactly(".name is not there");
  }
}

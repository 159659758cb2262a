package graft.common.bind;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Prints the shape of a record type as JSON Schema (draft 2020-12), for editors.
 *
 * <p>The result is a tree of maps, lists and plain values, in the order of the records.
 */
public final class JsonSchema {
  private final Map<String, Object> definitions = new LinkedHashMap<>();

  /** The schema of files that bind to the type. */
  public Map<String, Object> of(Class<? extends Record> type, String id, String title) {
    Map<String, Object> root = new LinkedHashMap<>();
    root.put("$schema", "https://json-schema.org/draft/2020-12/schema");
    root.put("$id", id);
    root.put("title", title);
    root.putAll(object(type));
    root.put("$defs", definitions);
    return root;
  }

  private Map<String, Object> object(Class<?> type) {
    Map<String, Object> schema = new LinkedHashMap<>();
    Doc doc = type.getAnnotation(Doc.class);
    if (doc != null) {
      schema.put("description", doc.value());
    }
    schema.put("type", "object");
    schema.put("additionalProperties", false);
    Map<String, Object> properties = new LinkedHashMap<>();
    List<Object> required = new ArrayList<>();
    for (Shape shape : Shape.of(type)) {
      properties.put(shape.key(), property(shape));
      if (shape.kind() == Shape.Kind.REQUIRED) {
        required.add(shape.key());
      }
    }
    schema.put("properties", properties);
    if (!required.isEmpty()) {
      schema.put("required", required);
    }
    return schema;
  }

  private Map<String, Object> property(Shape shape) {
    Map<String, Object> schema = new LinkedHashMap<>();
    Doc doc = shape.component().getAnnotation(Doc.class);
    if (doc != null) {
      schema.put("description", doc.value());
    }
    if (shape.kind() == Shape.Kind.LIST) {
      Map<String, Object> list = new LinkedHashMap<>();
      list.put("type", "array");
      list.put("items", value(shape.type()));
      if (shape.component().isAnnotationPresent(OneOrMore.class)) {
        schema.put("anyOf", List.of(value(shape.type()), list));
      } else {
        schema.putAll(list);
      }
      return schema;
    }
    schema.putAll(value(shape.type()));
    Range range = shape.component().getAnnotation(Range.class);
    if (range != null) {
      schema.put("minimum", range.min());
      schema.put("maximum", range.max());
    }
    Default absent = shape.component().getAnnotation(Default.class);
    if (absent != null && !absent.value().equals("{}")) {
      schema.put("default", typed(shape.type(), absent.value()));
    }
    return schema;
  }

  private Map<String, Object> value(Class<?> type) {
    if (type == int.class || type == Integer.class || type == long.class) {
      return Map.of("type", "integer");
    }
    if (type == boolean.class || type == Boolean.class) {
      return Map.of("type", "boolean");
    }
    if (type == String.class) {
      return Map.of("type", "string");
    }
    if (type.isEnum()) {
      List<Object> words = new ArrayList<>();
      for (Object constant : type.getEnumConstants()) {
        words.add(Shape.word((Enum<?>) constant));
      }
      return Map.of("enum", words);
    }
    Form form = type.getAnnotation(Form.class);
    if (form != null) {
      return text(form);
    }
    if (!type.isRecord()) {
      throw new IllegalStateException(type + " has no form in a file");
    }
    return reference(type);
  }

  private static Map<String, Object> text(Form form) {
    Map<String, Object> schema = new LinkedHashMap<>();
    // YAML may contain a size as a bare number.
    boolean number = "4096".matches(form.pattern());
    schema.put("type", number ? List.of("string", "integer") : "string");
    schema.put("pattern", form.pattern());
    schema.put("examples", List.of(form.example()));
    return schema;
  }

  private Map<String, Object> reference(Class<?> type) {
    String name = type.getSimpleName();
    if (!definitions.containsKey(name)) {
      definitions.put(name, Map.of());
      definitions.put(name, object(type));
    }
    Map<String, Object> reference = Map.of("$ref", "#/$defs/" + name);
    Shorthand shorthand = type.getAnnotation(Shorthand.class);
    if (shorthand == null) {
      return reference;
    }
    for (Shape shape : Shape.of(type)) {
      if (shape.key().equals(shorthand.value())) {
        return Map.of("anyOf", List.of(value(shape.type()), reference));
      }
    }
    throw new IllegalStateException(type + " has no key '" + shorthand.value() + "'");
  }

  private static Object typed(Class<?> type, String text) {
    Object parsed = Scalars.parse(type, text);
    return parsed instanceof Number || parsed instanceof Boolean ? parsed : text;
  }
}

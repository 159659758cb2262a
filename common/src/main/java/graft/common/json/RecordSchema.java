package graft.common.json;

import graft.common.bind.Doc;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * What {@link Json} writes for a tree whose form a record type describes: as JSON Schema (draft
 * 2020-12), and as a check of trees. The components are the fields. An {@link Optional} may be
 * absent or null, everything else is there. A record, a {@link List} and a {@link Map} with text as
 * keys are what they are in JSON, {@link Object} is anything, and every class that is no number and
 * no boolean is text.
 */
public final class RecordSchema {
  private static final Set<Class<?>> WHOLE =
      Set.of(int.class, Integer.class, long.class, Long.class);
  private static final Set<Class<?>> FRACTIONS = Set.of(double.class, Double.class);
  private static final Set<Class<?>> TRUTHS = Set.of(boolean.class, Boolean.class);

  private final Map<String, Object> definitions = new LinkedHashMap<>();

  private RecordSchema() {}

  /**
   * The schema of an object of one of the types.
   *
   * @param added fields with their schemas, which precede those of the types
   */
  public static Map<String, Object> of(
      String title, List<Class<? extends Record>> types, Map<String, Object> added) {
    RecordSchema schema = new RecordSchema();
    List<Map<String, Object>> forms = new ArrayList<>();
    types.forEach(type -> forms.add(schema.object(type, added)));
    Map<String, Object> root = new LinkedHashMap<>();
    root.put("$schema", "https://json-schema.org/draft/2020-12/schema");
    root.put("title", title);
    if (forms.size() == 1) {
      root.putAll(forms.get(0));
    } else {
      root.put("anyOf", forms);
    }
    root.put("$defs", schema.definitions);
    return root;
  }

  private Map<String, Object> object(Class<?> type, Map<String, Object> added) {
    Map<String, Object> schema = new LinkedHashMap<>();
    describe(schema, type.getAnnotation(Doc.class));
    schema.put("type", "object");
    Map<String, Object> properties = new LinkedHashMap<>(added);
    List<Object> required = new ArrayList<>(added.keySet());
    for (RecordComponent component : type.getRecordComponents()) {
      Map<String, Object> property = new LinkedHashMap<>();
      describe(property, component.getAnnotation(Doc.class));
      property.putAll(value(component.getGenericType()));
      properties.put(component.getName(), property);
      if (component.getType() != Optional.class) {
        required.add(component.getName());
      }
    }
    schema.put("properties", properties);
    schema.put("required", required);
    schema.put("additionalProperties", false);
    return schema;
  }

  private static void describe(Map<String, Object> schema, Doc doc) {
    if (doc != null) {
      schema.put("description", doc.value());
    }
  }

  private Map<String, Object> value(Type type) {
    if (type instanceof ParameterizedType of) {
      Type[] arguments = of.getActualTypeArguments();
      Map<String, Object> last = value(arguments[arguments.length - 1]);
      if (of.getRawType() == Optional.class) {
        return Map.of("anyOf", List.of(last, Map.of("type", "null")));
      }
      Map<String, Object> schema = new LinkedHashMap<>();
      boolean list = of.getRawType() == List.class;
      schema.put("type", list ? "array" : "object");
      schema.put(list ? "items" : "additionalProperties", last);
      return schema;
    }
    Class<?> plain = (Class<?>) type;
    if (plain == Object.class) {
      return Map.of();
    }
    if (!plain.isRecord()) {
      return Map.of("type", word(plain));
    }
    String name = plain.getSimpleName();
    if (!definitions.containsKey(name)) {
      definitions.put(name, Map.of());
      definitions.put(name, object(plain, Map.of()));
    }
    return Map.of("$ref", "#/$defs/" + name);
  }

  private static String word(Class<?> plain) {
    if (WHOLE.contains(plain)) {
      return "integer";
    }
    return FRACTIONS.contains(plain) ? "number" : TRUTHS.contains(plain) ? "boolean" : "string";
  }

  /**
   * What of a tree does not have the form of the type, each with its place; empty if all has.
   *
   * @param tree as {@link Json} writes it
   */
  public static List<String> problems(Class<? extends Record> type, Object tree) {
    List<String> problems = new ArrayList<>();
    check("", type, tree, problems);
    return problems;
  }

  private static void check(String at, Type type, Object tree, List<String> problems) {
    if (type instanceof ParameterizedType of) {
      parts(at, of, tree, problems);
      return;
    }
    Class<?> plain = (Class<?>) type;
    if (plain.isRecord() && tree instanceof Map<?, ?> map) {
      fields(at, plain, map, problems);
    } else if (plain != Object.class && (plain.isRecord() || !isOne(word(plain), tree))) {
      problems.add(at + " is no " + (plain.isRecord() ? "object" : word(plain)) + ": " + tree);
    }
  }

  private static void parts(String at, ParameterizedType of, Object tree, List<String> problems) {
    Type[] arguments = of.getActualTypeArguments();
    Type last = arguments[arguments.length - 1];
    if (of.getRawType() == Optional.class) {
      if (tree != null) {
        check(at, last, tree, problems);
      }
    } else if (of.getRawType() == List.class && tree instanceof Iterable<?> list) {
      int index = 0;
      for (Object item : list) {
        check(at + "[" + index++ + "]", last, item, problems);
      }
    } else if (of.getRawType() == Map.class && tree instanceof Map<?, ?> map) {
      map.forEach((key, item) -> check(at + "." + key, last, item, problems));
    } else {
      problems.add(at + " is no " + of.getRawType().getTypeName() + ": " + tree);
    }
  }

  private static void fields(String at, Class<?> type, Map<?, ?> tree, List<String> problems) {
    Map<String, Object> rest = new LinkedHashMap<>();
    tree.forEach((key, item) -> rest.put(String.valueOf(key), item));
    for (RecordComponent component : type.getRecordComponents()) {
      String name = component.getName();
      if (rest.containsKey(name)) {
        check(at + "." + name, component.getGenericType(), rest.remove(name), problems);
      } else if (component.getType() != Optional.class) {
        problems.add(at + "." + name + " is not there");
      }
    }
    rest.keySet().forEach(name -> problems.add(at + "." + name + " is in no schema"));
  }

  private static boolean isOne(String word, Object tree) {
    return switch (word) {
      case "integer" ->
          tree instanceof Number && !(tree instanceof Double) && !(tree instanceof Float);
      case "number" -> tree instanceof Number;
      case "boolean" -> tree instanceof Boolean;
      default ->
          tree != null
              && !(tree instanceof Number)
              && !(tree instanceof Boolean)
              && !(tree instanceof Map)
              && !(tree instanceof Iterable);
    };
  }
}

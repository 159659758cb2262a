package graft.common.bind;

import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.yaml.snakeyaml.error.Mark;
import org.yaml.snakeyaml.nodes.MappingNode;
import org.yaml.snakeyaml.nodes.Node;
import org.yaml.snakeyaml.nodes.NodeTuple;
import org.yaml.snakeyaml.nodes.ScalarNode;
import org.yaml.snakeyaml.nodes.SequenceNode;
import org.yaml.snakeyaml.nodes.Tag;

/**
 * Binds SnakeYAML nodes to records.
 *
 * <p>A component is required unless it is an {@link Optional}, a {@link List} or has a {@link
 * Default}. A required component that is missing or invalid is reported and left null, so that the
 * binder can check the rest. A reader must therefore not return a tree that has problems.
 */
public final class RecordBinder {
  private final String file;
  private final Problems problems;
  private final Positions positions;

  public RecordBinder(String file, Problems problems, Positions positions) {
    this.file = file;
    this.problems = problems;
    this.positions = positions;
  }

  /** Binds a whole document; null if the root node is of the wrong kind. */
  public <T extends Record> T bind(Node node, Class<T> type) {
    return type.cast(value(node, type, "the file"));
  }

  private Object value(Node node, Class<?> type, String what) {
    if (type.isRecord() && !Scalars.isScalar(type)) {
      return structure(node, type, what);
    }
    if (!(node instanceof ScalarNode scalar)) {
      problems.add(at(node), what + " must be one plain value", example(type));
      return null;
    }
    return scalar(scalar, type, what);
  }

  private Object scalar(ScalarNode node, Class<?> type, String what) {
    if (node.getTag().equals(Tag.NULL)) {
      problems.add(at(node), what + " has no value", example(type));
      return null;
    }
    try {
      return Scalars.parse(type, node.getValue());
    } catch (IllegalArgumentException e) {
      Form form = type.getAnnotation(Form.class);
      boolean shown =
          form != null
              && (e.getMessage().endsWith(form.example())
                  || e.getMessage().contains("did you mean"));
      problems.add(at(node), what + ": " + e.getMessage(), shown ? "" : example(type));
      return null;
    }
  }

  private Object structure(Node node, Class<?> type, String what) {
    Shorthand shorthand = type.getAnnotation(Shorthand.class);
    if (node instanceof MappingNode mapping) {
      return mapping(mapping, type, what);
    }
    if (node instanceof ScalarNode scalar && !scalar.getTag().equals(Tag.NULL)) {
      if (shorthand != null) {
        Map<String, Node> one = new LinkedHashMap<>();
        one.put(shorthand.value(), node);
        return record(node, one, Map.of(), type, what);
      }
      problems.add(at(node), what + " must be a mapping of keys to values", keys(type));
      return null;
    }
    problems.add(at(node), what + " must be a mapping of keys to values", keys(type));
    return null;
  }

  private Object mapping(MappingNode node, Class<?> type, String what) {
    Map<String, Node> values = new LinkedHashMap<>();
    Map<String, Position> keyPositions = new HashMap<>();
    List<Node> merged = new ArrayList<>();
    for (NodeTuple tuple : node.getValue()) {
      if (tuple.getKeyNode().getTag().equals(Tag.MERGE)) {
        merged.add(tuple.getValueNode());
        continue;
      }
      if (!(tuple.getKeyNode() instanceof ScalarNode key)) {
        problems.add(at(tuple.getKeyNode()), "a key must be one plain word");
        continue;
      }
      if (values.put(key.getValue(), tuple.getValueNode()) != null) {
        problems.add(
            at(key), "'" + key.getValue() + "' is written twice in " + what, "keep one of them");
      }
      keyPositions.put(key.getValue(), at(key));
    }
    merge(merged, values, keyPositions);
    return record(node, values, keyPositions, type, what);
  }

  /**
   * Implements YAML's {@code <<: *anchor}: keys that this mapping does not define are taken from
   * the anchor.
   */
  private void merge(List<Node> from, Map<String, Node> values, Map<String, Position> keys) {
    for (Node node : from) {
      if (node instanceof SequenceNode several) {
        merge(several.getValue(), values, keys);
      } else if (node instanceof MappingNode mapping) {
        for (NodeTuple tuple : mapping.getValue()) {
          if (tuple.getKeyNode() instanceof ScalarNode key
              && values.putIfAbsent(key.getValue(), tuple.getValueNode()) == null) {
            keys.put(key.getValue(), at(key));
          }
        }
      } else {
        problems.add(at(node), "'<<' takes a mapping or a list of mappings");
      }
    }
  }

  private Object record(
      Node node,
      Map<String, Node> values,
      Map<String, Position> keyPositions,
      Class<?> type,
      String what) {
    List<Shape> shapes = Shape.of(type);
    List<String> known = shapes.stream().map(Shape::key).toList();
    for (String key : values.keySet()) {
      if (!known.contains(key)) {
        problems.add(
            keyPositions.getOrDefault(key, at(node)),
            "unknown key '" + key + "' in " + what,
            meant(key, shapes).orElseGet(() -> Spelling.hint(key, known)));
      }
    }
    Map<String, Position> where = new HashMap<>();
    Object[] arguments = new Object[shapes.size()];
    for (int i = 0; i < arguments.length; i++) {
      Shape shape = shapes.get(i);
      Node value = values.get(shape.key());
      if (value != null) {
        where.put(shape.key(), at(value));
      }
      arguments[i] = component(node, shape, value, what, where);
    }
    Object bound = construct(type, arguments);
    positions.put(bound, at(node), where);
    return bound;
  }

  /** A hint for a key that other tools use. */
  private static Optional<String> meant(String key, List<Shape> shapes) {
    return shapes.stream()
        .filter(shape -> shape.synonyms().contains(key.toLowerCase(Locale.ROOT)))
        .map(shape -> "did you mean '" + shape.key() + "'?")
        .findFirst();
  }

  private Object component(
      Node owner, Shape shape, Node value, String what, Map<String, Position> where) {
    String name = "'" + shape.key() + "'";
    switch (shape.kind()) {
      case LIST:
        return value == null ? List.of() : list(shape, value, name, where);
      case OPTIONAL:
        return value == null ? Optional.empty() : Optional.ofNullable(checked(shape, value, name));
      case DEFAULTED:
        Object given = value == null ? null : checked(shape, value, name);
        return given != null ? given : absent(owner, shape);
      default:
        if (value == null) {
          problems.add(at(owner), what + " lacks the key " + name, example(shape));
          return blank(shape.type());
        }
        Object bound = checked(shape, value, name);
        return bound != null ? bound : blank(shape.type());
    }
  }

  private List<Object> list(Shape shape, Node value, String name, Map<String, Position> where) {
    List<Node> nodes;
    String item = "an item of " + name;
    if (value instanceof SequenceNode sequence) {
      nodes = sequence.getValue();
    } else if (shape.component().isAnnotationPresent(OneOrMore.class)) {
      nodes = List.of(value);
      item = name;
    } else {
      problems.add(at(value), name + " must be a list", "write '- ' before each item");
      return List.of();
    }
    List<Object> items = new ArrayList<>();
    for (Node node : nodes) {
      Object bound = value(node, shape.type(), item);
      if (bound != null) {
        where.put(shape.key() + "[" + items.size() + "]", at(node));
        items.add(bound);
      }
    }
    return List.copyOf(items);
  }

  private Object checked(Shape shape, Node node, String name) {
    Object bound = value(node, shape.type(), name);
    Range range = shape.component().getAnnotation(Range.class);
    if (range != null && bound instanceof Number number) {
      if (number.longValue() < range.min() || number.longValue() > range.max()) {
        problems.add(
            at(node),
            range.min() == range.max()
                ? name + " is " + number + ", and can only be " + range.min()
                : name + " is " + number + ", not between " + range.min() + " and " + range.max());
        return null;
      }
    }
    return bound;
  }

  private Object absent(Node owner, Shape shape) {
    String text = shape.component().getAnnotation(Default.class).value();
    if (text.equals("{}")) {
      return record(owner, Map.of(), Map.of(), shape.type(), "'" + shape.key() + "'");
    }
    return Scalars.parse(shape.type(), text);
  }

  /** The value of a required component that is missing or invalid. */
  private static Object blank(Class<?> type) {
    if (type == int.class) {
      return 0;
    }
    if (type == long.class) {
      return 0L;
    }
    return type == boolean.class ? false : null;
  }

  private static Object construct(Class<?> type, Object[] arguments) {
    Constructor<?> constructor = type.getDeclaredConstructors()[0];
    try {
      return constructor.newInstance(arguments);
    } catch (InvocationTargetException e) {
      throw new IllegalStateException("cannot make a " + type.getSimpleName(), e.getCause());
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("cannot make a " + type.getSimpleName(), e);
    }
  }

  private static String example(Shape shape) {
    Range range = shape.component().getAnnotation(Range.class);
    return range != null && range.min() == range.max()
        ? "add " + shape.key() + ": " + range.min()
        : example(shape.type());
  }

  private static String example(Class<?> type) {
    Form form = type.getAnnotation(Form.class);
    return form == null ? "" : "for example " + form.example();
  }

  private static String keys(Class<?> type) {
    return "its keys: " + String.join(", ", Shape.of(type).stream().map(Shape::key).toList());
  }

  private Position at(Node node) {
    Mark mark = node.getStartMark();
    return new Position(file, mark.getLine() + 1, mark.getColumn() + 1);
  }
}

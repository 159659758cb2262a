package graft.common.bind;

import java.lang.reflect.Method;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Turns a record that {@link RecordBinder} can read into the tree that it reads: keys with hyphens,
 * and what equals its default left out. Binding the tree gives an equal record.
 */
public final class RecordWriter {
  private RecordWriter() {}

  /** The tree of a record: maps, lists, text, numbers and booleans. */
  public static Map<String, Object> tree(Record bound) {
    Map<String, Object> tree = new LinkedHashMap<>();
    for (Shape shape : Shape.of(bound.getClass())) {
      Object value = component(shape, bound);
      if (value instanceof Optional<?> optional) {
        optional.ifPresent(present -> tree.put(shape.key(), value(present)));
      } else if (value instanceof List<?> list) {
        if (!list.isEmpty()) {
          tree.put(shape.key(), list.stream().map(RecordWriter::value).toList());
        }
      } else if (value != null && !isDefault(shape, value)) {
        tree.put(shape.key(), value(value));
      }
    }
    return tree;
  }

  private static Object component(Shape shape, Record bound) {
    try {
      Method accessor = shape.component().getAccessor();
      accessor.setAccessible(true);
      return accessor.invoke(bound);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(shape.component() + " cannot be read", e);
    }
  }

  private static boolean isDefault(Shape shape, Object value) {
    Default absent = shape.component().getAnnotation(Default.class);
    if (absent == null) {
      return false;
    }
    return absent.value().equals("{}")
        ? value instanceof Record nested && tree(nested).isEmpty()
        : Scalars.parse(shape.type(), absent.value()).equals(value);
  }

  private static Object value(Object value) {
    if (value instanceof Enum<?> constant) {
      return Shape.word(constant);
    }
    if (value instanceof Record nested && !Scalars.isScalar(nested.getClass())) {
      return tree(nested);
    }
    return value instanceof Number || value instanceof Boolean ? value : value.toString();
  }
}

package graft.common.json;

import graft.common.bind.Default;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/**
 * Turns records into trees for {@link Json} and reads them back. A component may be a text, a
 * number, a truth value, an enum, a {@link Path}, one of the types in {@code texts}, a record, a
 * map that is already a tree, or an {@link Optional} or {@link List} of these. A component that is
 * null or empty is omitted; a {@link Default} stands for a text or number that is absent.
 */
public final class RecordTrees {
  private final Map<Class<?>, Function<String, ?>> texts;

  /**
   * Binds records that may have these types among their components.
   *
   * @param texts types that are written by {@link Object#toString}, each with the parser of that
   *     text
   */
  public RecordTrees(Map<Class<?>, Function<String, ?>> texts) {
    this.texts = Map.copyOf(texts);
  }

  /** A record's components as a tree. */
  public Map<String, Object> write(Record bound) {
    Map<String, Object> tree = new LinkedHashMap<>();
    for (RecordComponent component : bound.getClass().getRecordComponents()) {
      try {
        var accessor = component.getAccessor();
        accessor.setAccessible(true);
        Object value = encode(accessor.invoke(bound));
        if (value != null) {
          tree.put(component.getName(), value);
        }
      } catch (ReflectiveOperationException e) {
        throw new IllegalStateException(component + " cannot be read", e);
      }
    }
    return tree;
  }

  private Object encode(Object value) {
    if (value instanceof Optional<?> optional) {
      return optional.map(this::encode).orElse(null);
    }
    if (value instanceof List<?> list) {
      return list.stream().map(this::encode).toList();
    }
    if (value instanceof Path || (value != null && texts.containsKey(value.getClass()))) {
      return value.toString();
    }
    if (value instanceof Record bound) {
      return write(bound);
    }
    return value instanceof Enum<?> constant ? constant.name() : value;
  }

  /**
   * Reads a record back. Keys without a component of that name are ignored.
   *
   * @throws IllegalArgumentException if the tree does not fit the record
   */
  public <T> T read(Class<T> type, Map<?, ?> tree) {
    RecordComponent[] components = type.getRecordComponents();
    Class<?>[] parameters = new Class<?>[components.length];
    Object[] arguments = new Object[components.length];
    for (int i = 0; i < components.length; i++) {
      parameters[i] = components[i].getType();
      arguments[i] =
          decode(components[i].getGenericType(), tree.get(components[i].getName()), components[i]);
    }
    try {
      Constructor<T> constructor = type.getDeclaredConstructor(parameters);
      constructor.setAccessible(true);
      return constructor.newInstance(arguments);
    } catch (InvocationTargetException e) {
      throw new IllegalArgumentException(
          "not a " + type.getSimpleName() + ": " + tree, e.getCause());
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(e);
    }
  }

  private Object decode(Type type, Object tree, RecordComponent of) {
    if (type instanceof ParameterizedType parameterized
        && parameterized.getRawType() != Map.class) {
      Type argument = parameterized.getActualTypeArguments()[0];
      if (parameterized.getRawType() == Optional.class) {
        return Optional.ofNullable(tree).map(t -> decode(argument, t, of));
      }
      List<Object> items = new ArrayList<>();
      if (tree instanceof List<?> list) {
        list.forEach(item -> items.add(item == null ? null : decode(argument, item, of)));
      }
      return Collections.unmodifiableList(items);
    }
    if (tree == null) {
      Default absent = of.getAnnotation(Default.class);
      if (absent == null) {
        throw new IllegalArgumentException("lacks '" + of.getName() + "'");
      }
      return decode(type, absent.value(), of);
    }
    return type instanceof Class<?> plain ? plain(plain, tree) : tree;
  }

  private Object plain(Class<?> type, Object tree) {
    if (type.isRecord() && tree instanceof Map<?, ?> map) {
      return read(type, map);
    }
    if (tree instanceof Long number) {
      if (type == int.class || type == Integer.class) {
        return Math.toIntExact(number);
      }
      return type == double.class || type == Double.class ? (Object) number.doubleValue() : number;
    }
    if (tree instanceof String text) {
      if (type == Path.class) {
        return Path.of(text);
      }
      if (texts.containsKey(type)) {
        return texts.get(type).apply(text);
      }
      if (type == double.class) {
        return Double.valueOf(text); // JSON has no number for NaN and infinities
      }
      if (type == long.class) {
        return Long.valueOf(text);
      }
      for (Object constant : type.isEnum() ? type.getEnumConstants() : new Object[0]) {
        if (((Enum<?>) constant).name().equals(text)) {
          return constant;
        }
      }
    }
    return tree;
  }
}

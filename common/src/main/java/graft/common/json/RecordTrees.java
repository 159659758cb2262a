package graft.common.json;

import graft.common.bind.Default;
import java.lang.invoke.MethodType;
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
 * Converts records to trees for {@link Json} and back. A record may consist of text, numbers,
 * booleans, enums, {@link Path}, the types of {@code texts}, records, maps that are already trees,
 * and {@link Optional} and {@link List} of these. A component that is null or empty is omitted; a
 * {@link Default} of a text or a number replaces an absent component.
 */
public final class RecordTrees {
  private final Map<Class<?>, Function<String, ?>> texts;

  /**
   * Creates a converter for records with components of these types.
   *
   * @param texts types that are written as the result of {@link Object#toString}, each with the
   *     function that parses this text
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
   * Reads a record from a tree. Keys that are not components of the record are ignored.
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
    if (!(type instanceof Class<?> plain)) {
      return tree;
    }
    Object value = plain(plain, tree);
    if (!MethodType.methodType(plain).wrap().returnType().isInstance(value)) {
      throw new IllegalArgumentException(
          "'" + of.getName() + "' is no " + plain.getSimpleName() + ": " + tree);
    }
    return value;
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
        return Double.valueOf(text); // JSON cannot represent NaN and infinities as numbers
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

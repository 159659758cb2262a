package graft.deployment.step;

import graft.common.values.UserName;
import graft.guests.connection.HostAddress;
import graft.sriov.Guid;
import graft.sriov.MacAddress;
import graft.sriov.PciAddress;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/**
 * Writes steps as JSON trees and reads them back. Supports records of: text, numbers, booleans,
 * enums, {@link Path}, addresses, users and GUIDs (as text), records, and {@link Optional} and
 * {@link List} of these.
 */
public final class StepCodec {
  private static final Map<Class<?>, Function<String, Object>> TEXTS =
      Map.of(
          HostAddress.class, HostAddress::parse,
          UserName.class, UserName::parse,
          Path.class, Path::of,
          PciAddress.class, PciAddress::parse,
          MacAddress.class, MacAddress::parse,
          Guid.class, Guid::parse);

  private final Map<String, StepKind> byId = new LinkedHashMap<>();
  private final Map<Class<? extends Step>, StepKind> byType = new LinkedHashMap<>();
  private final Map<String, String> formerNames;

  /**
   * A codec for these kinds of steps.
   *
   * @param formerNames the ids of kinds by the names that earlier journals have for them
   * @throws IllegalArgumentException if an id or a type occurs twice, or a former name stands for
   *     no kind
   */
  public StepCodec(List<StepKind> kinds, Map<String, String> formerNames) {
    for (StepKind kind : kinds) {
      if (byId.put(kind.id(), kind) != null || byType.put(kind.type(), kind) != null) {
        throw new IllegalArgumentException("two kinds of steps share an id or a type: " + kind);
      }
    }
    if (!byId.keySet().containsAll(formerNames.values())) {
      throw new IllegalArgumentException("a former name stands for no kind: " + formerNames);
    }
    this.formerNames = Map.copyOf(formerNames);
  }

  /** The id of a step's kind. */
  public String id(Step step) {
    StepKind kind = byType.get(step.getClass());
    if (kind == null) {
      throw new IllegalArgumentException(step.getClass() + " has no id for the journal");
    }
    return kind.id();
  }

  /** A step's components as a tree. */
  public static Map<String, Object> write(Step step) {
    return components(step);
  }

  /**
   * Reads a step back.
   *
   * @param id its kind, or the former name of one
   * @throws IllegalArgumentException if there is no such kind or the tree does not fit it, as when
   *     another version of Graft wrote it
   */
  public Step read(String id, Map<String, Object> tree) {
    StepKind kind = byId.get(formerNames.getOrDefault(id, id));
    if (kind == null) {
      throw new IllegalArgumentException("there is no kind of step '" + id + "' in this version");
    }
    return kind.type().cast(record(kind.type(), tree));
  }

  private static Map<String, Object> components(Object bound) {
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

  private static Object encode(Object value) {
    if (value instanceof Optional<?> optional) {
      return optional.map(StepCodec::encode).orElse(null);
    }
    if (value instanceof List<?> list) {
      return list.stream().map(StepCodec::encode).toList();
    }
    if (value instanceof Path || (value != null && TEXTS.containsKey(value.getClass()))) {
      return value.toString();
    }
    if (value instanceof Record bound) {
      return components(bound);
    }
    return value instanceof Enum<?> constant ? constant.name() : value;
  }

  private static Object record(Class<?> type, Map<?, ?> tree) {
    RecordComponent[] components = type.getRecordComponents();
    Class<?>[] parameters = new Class<?>[components.length];
    Object[] arguments = new Object[components.length];
    for (int i = 0; i < components.length; i++) {
      parameters[i] = components[i].getType();
      arguments[i] =
          decode(components[i].getGenericType(), tree.get(components[i].getName()), components[i]);
    }
    try {
      Constructor<?> constructor = type.getDeclaredConstructor(parameters);
      constructor.setAccessible(true);
      return constructor.newInstance(arguments);
    } catch (InvocationTargetException e) {
      throw new IllegalArgumentException(
          "not a " + type.getSimpleName() + ": " + tree, e.getCause());
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(e);
    }
  }

  private static Object decode(Type type, Object tree, RecordComponent of) {
    if (type instanceof ParameterizedType parameterized) {
      Type argument = parameterized.getActualTypeArguments()[0];
      if (parameterized.getRawType() == Optional.class) {
        return Optional.ofNullable(tree).map(t -> decode(argument, t, of));
      }
      List<Object> items = new ArrayList<>();
      if (tree instanceof List<?> list) {
        list.forEach(item -> items.add(decode(argument, item, of)));
      }
      return List.copyOf(items);
    }
    Class<?> plain = (Class<?>) type;
    if (plain.isRecord() && tree instanceof Map<?, ?> map) {
      return record(plain, map);
    }
    if (tree instanceof Long number) {
      return plain == int.class || plain == Integer.class
          ? (Object) Math.toIntExact(number)
          : number;
    }
    if (TEXTS.containsKey(plain) && tree instanceof String text) {
      return TEXTS.get(plain).apply(text);
    }
    if (plain.isEnum() && tree instanceof String text) {
      for (Object constant : plain.getEnumConstants()) {
        if (((Enum<?>) constant).name().equals(text)) {
          return constant;
        }
      }
    }
    if (tree == null) {
      throw new IllegalArgumentException("lacks '" + of.getName() + "'");
    }
    return tree;
  }
}

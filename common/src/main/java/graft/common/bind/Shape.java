package graft.common.bind;

import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** The properties of a record's component that both the binder and the schema need. */
record Shape(RecordComponent component, String key, Class<?> type, Kind kind) {
  /** How many values a component holds, and whether it is required. */
  enum Kind {
    REQUIRED,
    OPTIONAL,
    DEFAULTED,
    LIST
  }

  /**
   * The shapes are cached, because each call of getRecordComponents() parses the annotations of the
   * class file again.
   */
  private static final ClassValue<List<Shape>> SHAPES =
      new ClassValue<>() {
        @Override
        protected List<Shape> computeValue(Class<?> recordType) {
          return read(recordType);
        }
      };

  static List<Shape> of(Class<?> recordType) {
    return SHAPES.get(recordType);
  }

  private static List<Shape> read(Class<?> recordType) {
    RecordComponent[] components = recordType.getRecordComponents();
    Shape[] shapes = new Shape[components.length];
    for (int i = 0; i < components.length; i++) {
      shapes[i] = of(components[i]);
    }
    return List.of(shapes);
  }

  private static Shape of(RecordComponent component) {
    Key named = component.getAnnotation(Key.class);
    String key = named != null ? named.value() : hyphens(component.getName());
    if (component.getType() == List.class) {
      return new Shape(component, key, argument(component.getGenericType()), Kind.LIST);
    }
    if (component.getType() == Optional.class) {
      return new Shape(component, key, argument(component.getGenericType()), Kind.OPTIONAL);
    }
    Kind kind = component.isAnnotationPresent(Default.class) ? Kind.DEFAULTED : Kind.REQUIRED;
    return new Shape(component, key, component.getType(), kind);
  }

  /** What other tools call the key. */
  List<String> synonyms() {
    Synonyms synonyms = component.getAnnotation(Synonyms.class);
    return synonyms == null ? List.of() : List.of(synonyms.value());
  }

  private static Class<?> argument(Type type) {
    return (Class<?>) ((ParameterizedType) type).getActualTypeArguments()[0];
  }

  /** Converts {@code guidBase} to {@code guid-base}. */
  static String hyphens(String name) {
    StringBuilder out = new StringBuilder();
    for (int i = 0; i < name.length(); i++) {
      char c = name.charAt(i);
      if (Character.isUpperCase(c)) {
        out.append('-');
      }
      out.append(Character.toLowerCase(c));
    }
    return out.toString();
  }

  /** Converts {@code MY_CHOICE} to {@code my-choice}. */
  static String word(Enum<?> constant) {
    return constant.name().toLowerCase(Locale.ROOT).replace('_', '-');
  }
}

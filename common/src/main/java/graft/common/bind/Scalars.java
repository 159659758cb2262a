package graft.common.bind;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Converts a scalar of the file into an object. If this fails, the message gives the reason. */
final class Scalars {
  private static final ClassValue<Optional<Method>> PARSERS =
      new ClassValue<>() {
        @Override
        protected Optional<Method> computeValue(Class<?> type) {
          return findParser(type);
        }
      };

  private Scalars() {}

  /** Whether a value of this type is written as a scalar. */
  static boolean isScalar(Class<?> type) {
    return type == String.class
        || type == int.class
        || type == Integer.class
        || type == long.class
        || type == boolean.class
        || type == Boolean.class
        || type.isEnum()
        || parser(type) != null;
  }

  /**
   * Parses a scalar.
   *
   * @throws IllegalArgumentException with a message for the user
   */
  static Object parse(Class<?> type, String text) {
    if (type == String.class) {
      return text;
    }
    if (type == int.class || type == Integer.class) {
      return Math.toIntExact(whole(text, Integer.MAX_VALUE));
    }
    if (type == long.class) {
      return whole(text, Long.MAX_VALUE);
    }
    if (type == boolean.class || type == Boolean.class) {
      return truth(text);
    }
    if (type.isEnum()) {
      return choice(type, text);
    }
    Method parser = parser(type);
    if (parser == null) {
      throw new IllegalStateException(type + " has no public static parse(String)");
    }
    try {
      return parser.invoke(null, text);
    } catch (InvocationTargetException e) {
      if (e.getCause() instanceof IllegalArgumentException said) {
        throw said;
      }
      throw new IllegalStateException(parser + " failed on '" + text + "'", e.getCause());
    } catch (IllegalAccessException e) {
      throw new IllegalStateException(e);
    }
  }

  private static long whole(String text, long max) {
    try {
      long value = Long.parseLong(text.replace("_", ""));
      if (value >= -max && value <= max) {
        return value;
      }
    } catch (NumberFormatException e) {
      // the exception below reports the error
    }
    throw new IllegalArgumentException("'" + text + "' is not a whole number");
  }

  private static boolean truth(String text) {
    return switch (text) {
      case "true", "yes", "on" -> true;
      case "false", "no", "off" -> false;
      default -> throw new IllegalArgumentException("'" + text + "' is not true or false");
    };
  }

  private static Object choice(Class<?> type, String text) {
    List<String> words = new ArrayList<>();
    for (Object constant : type.getEnumConstants()) {
      String word = Shape.word((Enum<?>) constant);
      if (word.equals(text)) {
        return constant;
      }
      words.add(word);
    }
    String nearest =
        Spelling.nearest(text, words).map(w -> "; did you mean '" + w + "'?").orElse("");
    throw new IllegalArgumentException(
        "'" + text + "' is not one of " + String.join(", ", words) + nearest);
  }

  private static Method parser(Class<?> type) {
    return PARSERS.get(type).orElse(null);
  }

  private static Optional<Method> findParser(Class<?> type) {
    try {
      Method parse = type.getMethod("parse", String.class);
      return Optional.of(parse).filter(found -> type.isAssignableFrom(found.getReturnType()));
    } catch (NoSuchMethodException e) {
      return Optional.empty();
    }
  }
}

package graft.remoting.api;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * One parameter of a function.
 *
 * @param direction the direction in which it is sent
 * @param optional whether CUDA allows NULL
 * @param type the type of its elements
 * @param meaning what it stands for, null if the type says so
 * @param count the parameter or number that gives the number of elements, null for one element
 * @param name its name
 */
public record Parameter(
    Direction direction, boolean optional, Type type, Meaning meaning, String count, String name) {
  /** The direction in which a parameter is sent, and whether it creates or ends a handle. */
  public enum Direction {
    /** By value. */
    VALUE,
    /** Through a pointer, read by the driver. */
    IN,
    /** Through a pointer, written by the driver. */
    OUT,
    /** Through a pointer: a new handle for which the client has already chosen the id. */
    NEW,
    /** By value: a handle that ends with this call. */
    DEL
  }

  private static final Pattern TYPE =
      Pattern.compile(
          "(?<type>\\w+)(?<optional>\\?)?(\\((?<meaning>.*)\\))?(\\[(?<count>\\w+)\\])?");

  static Parameter parse(String text) {
    String[] words = text.trim().split("\\s+", -1);
    if (words.length < 2 || words.length > 3) {
      throw new IllegalArgumentException(
          "a parameter is '[in|out|new|del] type name', not '" + text.trim() + "'");
    }
    Direction direction = Direction.VALUE;
    boolean optional = false;
    if (words.length == 3) {
      optional = words[0].endsWith("?");
      direction =
          switch (words[0]) {
            case "in", "in?" -> Direction.IN;
            case "out", "out?" -> Direction.OUT;
            case "new" -> Direction.NEW;
            case "del" -> Direction.DEL;
            default -> throw new IllegalArgumentException("unknown direction '" + words[0] + "'");
          };
    }
    Matcher m = TYPE.matcher(words[words.length - 2]);
    if (!m.matches()) {
      throw new IllegalArgumentException(
          "a type is 'type', 'type(meaning)' or 'type[count]', not '"
              + words[words.length - 2]
              + "'");
    }
    Type type = Type.parse(m.group("type"));
    if (m.group("optional") != null && type.kind() != Type.Kind.STRING) {
      throw new IllegalArgumentException(
          "only strings and parameters with a direction may be optional");
    }
    return new Parameter(
        direction,
        optional || m.group("optional") != null,
        type,
        m.group("meaning") == null ? null : Meaning.parse(type, m.group("meaning")),
        m.group("count"),
        words[words.length - 1]);
  }

  /** Splits a list at the commas outside of parentheses. */
  static List<String> split(String list) {
    List<String> parts = new ArrayList<>();
    int depth = 0;
    int from = 0;
    for (int i = 0; i < list.length(); i++) {
      char c = list.charAt(i);
      depth += c == '(' ? 1 : c == ')' ? -1 : 0;
      if (c == ',' && depth == 0) {
        parts.add(list.substring(from, i));
        from = i + 1;
      }
    }
    parts.add(list.substring(from));
    return parts;
  }

  boolean isArray() {
    return count != null;
  }

  boolean isBulk() {
    return type.kind() == Type.Kind.BULK;
  }

  boolean isOut() {
    return direction == Direction.OUT;
  }

  boolean isNew() {
    return direction == Direction.NEW;
  }

  /** Returns whether C passes this structure by value; {@code CudaDevice} gets its address. */
  boolean isStructValue() {
    return direction == Direction.VALUE && type.kind() == Type.Kind.STRUCT;
  }

  /** Returns whether the parameter is an address in the C interface. */
  boolean isPointer() {
    return direction == Direction.IN || isOut() || isNew();
  }

  /** Returns the declaration of this parameter in C. */
  String declareC() {
    if (isStructValue()) {
      return "struct graft_" + type.name() + " " + name;
    }
    String base = type.c();
    if (!isPointer()) {
      return base.endsWith("*") ? base + name : base + " " + name;
    }
    String pointer = base.endsWith("*") ? base + "*" + name : base + " *" + name;
    return direction == Direction.IN ? "const " + pointer : pointer;
  }

  /**
   * Returns the Java type of this parameter in {@code CudaDevice}, in which addresses are longs.
   */
  String java() {
    return isPointer() ? "long" : type.java();
  }
}

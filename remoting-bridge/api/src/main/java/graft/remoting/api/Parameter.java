package graft.remoting.api;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * One parameter of a function.
 *
 * @param direction which way it travels
 * @param optional whether CUDA takes NULL for it
 * @param type its element type
 * @param meaning what it stands for, null if its type says so
 * @param count null for one element, else the parameter name or number that says how many
 * @param name its name
 */
public record Parameter(
    Direction direction, boolean optional, Type type, Meaning meaning, String count, String name) {
  /** Which way a parameter travels, and whether it makes or ends a handle. */
  public enum Direction {
    /** By value. */
    VALUE,
    /** Through a pointer, read by the driver. */
    IN,
    /** Through a pointer, written by the driver. */
    OUT,
    /** Through a pointer: a handle that the client has named already. */
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
      throw new IllegalArgumentException("only texts and what has a direction may be missing");
    }
    return new Parameter(
        direction,
        optional || m.group("optional") != null,
        type,
        m.group("meaning") == null ? null : Meaning.parse(type, m.group("meaning")),
        m.group("count"),
        words[words.length - 1]);
  }

  /** Cuts a list at the commas that are in no parentheses. */
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

  /** True for a structure that C passes by value; {@code CudaDevice} gets its address. */
  boolean isStructValue() {
    return direction == Direction.VALUE && type.kind() == Type.Kind.STRUCT;
  }

  /** True where the parameter is an address in the C interface. */
  boolean isPointer() {
    return direction == Direction.IN || isOut() || isNew();
  }

  /** The declaration of this parameter in C. */
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

  /** The Java type of this parameter across {@code CudaDevice}: addresses are longs. */
  String java() {
    return isPointer() ? "long" : type.java();
  }
}

package graft.remoting.api;

/**
 * One parameter of a function.
 *
 * @param direction which way it travels
 * @param type its element type
 * @param count null for one element, else the parameter name or number that says how many
 * @param name its name
 */
public record Parameter(Direction direction, Type type, String count, String name) {
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

  static Parameter parse(String text) {
    String[] words = text.trim().split("\\s+", -1);
    if (words.length < 2 || words.length > 3) {
      throw new IllegalArgumentException(
          "a parameter is '[in|out|new|del] type name', not '" + text.trim() + "'");
    }
    Direction direction = Direction.VALUE;
    if (words.length == 3) {
      direction =
          switch (words[0]) {
            case "in" -> Direction.IN;
            case "out" -> Direction.OUT;
            case "new" -> Direction.NEW;
            case "del" -> Direction.DEL;
            default -> throw new IllegalArgumentException("unknown direction '" + words[0] + "'");
          };
    }
    String type = words[words.length - 2];
    String count = null;
    int bracket = type.indexOf('[');
    if (bracket >= 0) {
      if (!type.endsWith("]") || type.length() == bracket + 2) {
        throw new IllegalArgumentException("an array is 'type[count]', not '" + type + "'");
      }
      count = type.substring(bracket + 1, type.length() - 1);
      type = type.substring(0, bracket);
    }
    return new Parameter(direction, Type.parse(type), count, words[words.length - 1]);
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

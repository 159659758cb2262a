package graft.remoting.api;

import java.util.Locale;
import java.util.Map;

/**
 * The type of one element of a parameter: a scalar, a handle, a structure of fixed size, a string,
 * a raw pointer, or bulk data.
 *
 * @param name the name in the description, such as {@code u32}, {@code stream}, {@code struct24}
 * @param kind the kind of type
 * @param size the bytes of one element in memory; 0 for strings and bulk data
 */
public record Type(String name, Kind kind, int size) {
  /** The kinds of types. */
  public enum Kind {
    SCALAR,
    HANDLE,
    STRUCT,
    STRING,
    POINTER,
    BULK
  }

  private static final Map<String, Integer> SCALARS =
      Map.ofEntries(
          Map.entry("u8", 1),
          Map.entry("u16", 2),
          Map.entry("i32", 4),
          Map.entry("u32", 4),
          Map.entry("enum", 4),
          Map.entry("device", 4),
          Map.entry("f32", 4),
          Map.entry("i64", 8),
          Map.entry("u64", 8),
          Map.entry("size", 8),
          Map.entry("dptr", 8));

  private static final Map<String, String> C_SCALARS =
      Map.ofEntries(
          Map.entry("u8", "unsigned char"),
          Map.entry("u16", "unsigned short"),
          Map.entry("i32", "int"),
          Map.entry("u32", "unsigned int"),
          Map.entry("enum", "int"),
          Map.entry("device", "int"),
          Map.entry("f32", "float"),
          Map.entry("i64", "int64_t"),
          Map.entry("u64", "uint64_t"),
          Map.entry("size", "size_t"),
          Map.entry("dptr", "uint64_t"));

  /**
   * Parses the name of a type.
   *
   * @throws IllegalArgumentException for a name that is neither a scalar, a known handle nor {@code
   *     structN}
   */
  static Type parse(String name) {
    Integer scalar = SCALARS.get(name);
    if (scalar != null) {
      return new Type(name, Kind.SCALAR, scalar);
    }
    if (HandleKind.isName(name)) {
      return new Type(name, Kind.HANDLE, 8);
    }
    if (name.matches("struct[1-9][0-9]*")) {
      return new Type(name, Kind.STRUCT, Integer.parseInt(name.substring("struct".length())));
    }
    return switch (name) {
      case "str" -> new Type(name, Kind.STRING, 0);
      case "ptr" -> new Type(name, Kind.POINTER, 8);
      case "bulk" -> new Type(name, Kind.BULK, 0);
      default -> throw new IllegalArgumentException("unknown type '" + name + "'");
    };
  }

  boolean isHandle() {
    return kind == Kind.HANDLE;
  }

  boolean isFloat() {
    return name.equals("f32");
  }

  boolean isSigned() {
    return name.equals("i32") || name.equals("i64") || name.equals("enum") || name.equals("device");
  }

  /**
   * Returns the C type of one element as the client's stubs declare it; handles are {@code void *}.
   */
  String c() {
    return switch (kind) {
      case SCALAR -> C_SCALARS.get(name);
      case HANDLE, POINTER -> "void *";
      case STRUCT -> "void";
      case STRING -> "const char *";
      case BULK -> throw new IllegalStateException("bulk data has no C type of its own");
    };
  }

  /** Returns the Java type of one element that {@code CudaDevice} takes by value. */
  String java() {
    if (isFloat()) {
      return "float";
    }
    return kind == Kind.SCALAR && size <= 4 ? "int" : "long";
  }

  /** Returns the constant of {@link HandleKind} for a handle. */
  String handleConstant() {
    return name.toUpperCase(Locale.ROOT);
  }
}

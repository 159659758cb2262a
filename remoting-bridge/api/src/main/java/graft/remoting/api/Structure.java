package graft.remoting.api;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A structure of the driver's interface that clients send, with the offsets of its addresses and
 * handles.
 *
 * @param name the name that parameters refer to
 * @param bytes its size
 * @param selector what selects the case: an offset after an {@code @}, or a parameter of the same
 *     function; empty if there is only one case
 * @param cases the cases; any other value is refused
 */
public record Structure(String name, int bytes, Optional<String> selector, List<Case> cases) {
  /**
   * One case of a structure.
   *
   * @param values the values of the selector; none if there is only one case
   */
  public record Case(List<Integer> values, List<Field> fields) {}

  /**
   * An address or a handle.
   *
   * @param kind the kind of field
   * @param argument the argument of the kind, empty if it has none
   */
  public record Field(Kind kind, String argument, int offset) {
    /** The kinds of fields. */
    public enum Kind {
      /** As the parameter type {@code dptr}; the argument is the extent, or {@code base}. */
      DPTR(8),
      /** A pointer without a meaning, or a result: set to 0 for the driver. */
      ZERO(8),
      /** A handle or a pointer that the session enters from other parameters. */
      SESSION(8),
      /** The id of an event, which is replaced with the event's handle. */
      EVENT(8),
      /** The number of a condition of a graph. */
      CONDITION(8),
      /** One side of CUDA_MEMCPY3D; the argument is the offset of the extent. */
      SIDE(88),
      /** As {@link #SIDE}, but host memory is bulk data that follows the record. */
      PACKED(88),
      /** Filled by the session with a list of structures: {@code structure:parameter}. */
      LIST(8);

      private final int bytes;

      Kind(int bytes) {
        this.bytes = bytes;
      }
    }

    private static final Pattern FIELD =
        Pattern.compile("(?<kind>[a-z]+)(\\((?<argument>.*)\\))? (?<offset>\\d+)");

    static Field parse(String text) {
      Matcher m = FIELD.matcher(text.strip());
      if (!m.matches()) {
        throw new IllegalArgumentException("a field is 'kind offset', not '" + text.strip() + "'");
      }
      Kind kind = Kind.valueOf(m.group("kind").toUpperCase(java.util.Locale.ROOT));
      String argument = m.group("argument") == null ? "" : m.group("argument");
      if (kind == Kind.DPTR && !argument.equals("base")) {
        Extent.parse(argument);
      }
      return new Field(kind, argument, Integer.parseInt(m.group("offset")));
    }
  }

  private static final Pattern LINE =
      Pattern.compile(
          "struct (?<name>\\w+) (?<bytes>\\d+)( by (?<selector>@\\d+|\\w+)| (?<fields>.+))");

  /** Returns whether a structure begins on this line. */
  static boolean begins(String line) {
    return line.startsWith("struct ");
  }

  /** Parses the first line of a structure. */
  static Structure parse(String line) {
    Matcher m = LINE.matcher(line);
    if (!m.matches()) {
      throw new IllegalArgumentException("not a structure: " + line);
    }
    List<Case> cases = new ArrayList<>();
    if (m.group("fields") != null) {
      cases.add(new Case(List.of(), fields(m.group("fields"))));
    }
    Structure made =
        new Structure(
            m.group("name"),
            Integer.parseInt(m.group("bytes")),
            Optional.ofNullable(m.group("selector")),
            cases);
    made.check();
    return made;
  }

  /** Parses a further line, {@code VALUE/VALUE: fields}. */
  Structure with(String line) {
    int colon = line.indexOf(':');
    if (colon < 0 || selector.isEmpty()) {
      throw new IllegalArgumentException("a case is 'values: fields', not '" + line.strip() + "'");
    }
    List<Integer> values = new ArrayList<>();
    for (String value : line.substring(0, colon).strip().split("/", -1)) {
      values.add(Integer.valueOf(value));
    }
    List<Case> all = new ArrayList<>(cases);
    all.add(new Case(values, fields(line.substring(colon + 1).strip())));
    Structure made = new Structure(name, bytes, selector, all);
    made.check();
    return made;
  }

  private static List<Field> fields(String text) {
    return text.equals("plain")
        ? List.of()
        : Parameter.split(text).stream().map(Field::parse).toList();
  }

  private void check() {
    Set<Integer> values = new HashSet<>();
    for (Case one : cases) {
      for (int value : one.values()) {
        if (!values.add(value)) {
          throw new IllegalArgumentException(name + " has two cases for one value of " + value);
        }
      }
      for (Field field : one.fields()) {
        if (field.offset() % 8 != 0 || field.offset() + field.kind().bytes > bytes) {
          throw new IllegalArgumentException(name + " has no pointer at offset " + field.offset());
        }
      }
    }
  }
}

package graft.remoting.api;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A structure of the driver's interface that clients send: where it has addresses and handles.
 *
 * @param name what parameters call it
 * @param bytes its size
 * @param selector where it says which of its cases it is: an offset behind an {@code @}, or the
 *     parameter beside it; empty if there is but one
 * @param cases what it may be; all else is refused
 */
public record Structure(String name, int bytes, Optional<String> selector, List<Case> cases) {
  /**
   * One of the things that a structure may be.
   *
   * @param values of the selector; none if there is but one case
   */
  public record Case(List<Integer> values, List<Field> fields) {}

  /**
   * An address or a handle.
   *
   * @param kind what it is
   * @param argument what the kind needs to know, else empty
   */
  public record Field(Kind kind, String argument, int offset) {
    /** The kinds of field. */
    public enum Kind {
      /** As the parameter's type {@code dptr}; the argument is the extent, or {@code base}. */
      DPTR(8),
      /** A pointer of no meaning, or a result: 0 for the driver. */
      ZERO(8),
      /** A handle or a pointer that the session puts there from other parameters. */
      SESSION(8),
      /** The id of an event, in whose place its handle comes. */
      EVENT(8),
      /** The number of a condition of a graph. */
      CONDITION(8),
      /** One side of CUDA_MEMCPY3D; the argument is where the extent is. */
      SIDE(88),
      /** The same; host memory is bulk data behind the record. */
      PACKED(88),
      /** Where the session puts a list of structures: {@code structure:parameter}. */
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

  /** Whether a line begins a structure. */
  static boolean begins(String line) {
    return line.startsWith("struct ");
  }

  /** Reads the first line of a structure. */
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

  /** Reads a further line, {@code VALUE/VALUE: fields}. */
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
          throw new IllegalArgumentException(name + " is twice what it is by " + value);
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

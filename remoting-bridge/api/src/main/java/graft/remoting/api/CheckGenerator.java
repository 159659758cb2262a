package graft.remoting.api;

import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * Writes the dispatcher's checks of the addresses in a record: parameters by their meaning,
 * structures field by field. The server's {@code AddressChecks} implements the checks.
 */
final class CheckGenerator {
  private final Description description;

  CheckGenerator(Description description) {
    this.description = description;
  }

  /** Returns the statements that check a parameter after the whole record has been read. */
  String parameter(Function f, Parameter p) {
    String given = p.optional() ? "" : given(p);
    if (p.meaning() == null) {
      return given;
    }
    return given
        + switch (p.meaning().kind()) {
          case NUMBER, HINT, OPTIONS -> "";
          case MEMORY, HOST, MAPPING, RESERVED, PLACE ->
              call(
                  p.meaning().kind().name().toLowerCase(java.util.Locale.ROOT),
                  p.name() + ", " + p.meaning().extent().orElseThrow().java("", n -> value(f, n)));
          case BASE -> call("base", p.name());
          case PHYSICAL -> number("MEMORY", p.name());
          case TEXTURE -> number("TEXTURE", p.name());
          case SURFACE -> number("SURFACE", p.name());
          case CONDITION -> number("CONDITION", p.name());
          case STRUCTURE -> structures(p);
        };
  }

  /** Returns the check that refuses NULL where CUDA does not allow it. */
  private static String given(Parameter p) {
    String size = p.isArray() ? "times(" + p.count() + ", " + size(p) + ")" : "1";
    return switch (p.direction()) {
      case IN -> call("given", p.name() + " != 0, " + size);
      case OUT -> call("given", p.name() + "Wanted, " + size);
      case VALUE -> p.type().kind() == Type.Kind.STRING ? call("given", p.name() + " != 0, 1") : "";
      case NEW, DEL -> "";
    };
  }

  private static int size(Parameter p) {
    return p.type().size();
  }

  private static String call(String check, String arguments) {
    return "    this.checks." + check + "(" + arguments + ");\n";
  }

  private static String number(String kind, String value) {
    return call("number", "KnownNumbers.Kind." + kind + ", " + value);
  }

  /** Returns a number of the client's as an unsigned long. */
  private static String value(Function f, String name) {
    Parameter p =
        f.parameters().stream().filter(q -> q.name().equals(name)).findFirst().orElseThrow();
    return p.java().equals("int") ? "Integer.toUnsignedLong(" + name + ")" : name;
  }

  private String structures(Parameter p) {
    Structure s = description.structures().get(p.meaning().structure().orElseThrow());
    String more =
        p.meaning().selector().map(name -> ", " + name).orElse("") + lists(s, "", "Bytes");
    if (isPlain(s)) {
      return "";
    }
    if (!p.isArray()) {
      return "    if ("
          + p.name()
          + " != 0) {\n      "
          + method(s)
          + "("
          + p.name()
          + more
          + ");\n    }\n";
    }
    return "    for (long at = 0; at < "
        + p.name()
        + "Bytes; at += "
        + s.bytes()
        + ") {\n      "
        + method(s)
        + "("
        + p.name()
        + " + at"
        + more
        + ");\n    }\n";
  }

  private static boolean isPlain(Structure s) {
    return s.selector().isEmpty() && s.cases().stream().allMatch(c -> c.fields().isEmpty());
  }

  private static String method(Structure s) {
    return "check" + Character.toUpperCase(s.name().charAt(0)) + s.name().substring(1);
  }

  /** Returns the arguments for a structure's lists, each with its length. */
  private static String lists(Structure s, String type, String suffix) {
    return s.cases().stream()
        .flatMap(c -> c.fields().stream())
        .filter(field -> field.kind() == Structure.Field.Kind.LIST)
        .map(field -> field.argument().split(":", 2)[1])
        .map(name -> ", " + type + name + ", " + type + name + suffix)
        .collect(Collectors.joining());
  }

  /** Returns a checking method for each structure that contains addresses. */
  String methods() {
    return description.structures().values().stream()
        .filter(s -> !isPlain(s))
        .map(this::writeMethod)
        .collect(Collectors.joining());
  }

  private String writeMethod(Structure s) {
    Optional<String> selector = s.selector();
    boolean beside = selector.isPresent() && !selector.get().startsWith("@");
    StringBuilder out = new StringBuilder("\n  private void ");
    out.append(method(s)).append("(long at").append(beside ? ", int selector" : "");
    out.append(lists(s, "long ", "Bytes")).append(") {\n");
    if (selector.isEmpty()) {
      return out.append(fields(s.cases().get(0).fields())).append("  }\n").toString();
    }
    out.append("    switch (")
        .append(beside ? "selector" : "Memory.getInt(at + " + selector.get().substring(1) + ")")
        .append(") {\n");
    for (Structure.Case one : s.cases()) {
      out.append("      case ")
          .append(one.values().stream().map(String::valueOf).collect(Collectors.joining(", ")))
          .append(" -> {\n")
          .append(fields(one.fields()))
          .append("      }\n");
    }
    return out.append("      default -> this.checks.refuse();\n    }\n  }\n").toString();
  }

  private String fields(List<Structure.Field> fields) {
    return fields.stream().map(this::field).collect(Collectors.joining());
  }

  private String field(Structure.Field field) {
    String at = "at + " + field.offset();
    String value = "Memory.getLong(" + at + ")";
    return switch (field.kind()) {
      case DPTR ->
          field.argument().equals("base")
              ? call("base", value)
              : call(
                  "memory",
                  value
                      + ", "
                      + Extent.parse(field.argument())
                          .java(
                              "at",
                              n -> {
                                throw new IllegalArgumentException(n + " in a structure");
                              }));
      case ZERO, SESSION -> call("zero", at);
      case EVENT -> call("event", at);
      case CONDITION -> number("CONDITION", value);
      case SIDE -> call("side", at + ", at + " + field.argument() + ", false");
      case PACKED -> call("side", at + ", at + " + field.argument() + ", true");
      case LIST -> list(field);
    };
  }

  private String list(Structure.Field field) {
    String[] words = field.argument().split(":", 2);
    Structure s = description.structures().get(words[0]);
    return call("zero", "at + " + field.offset())
        + call("whole", words[1] + "Bytes, " + s.bytes())
        + "    for (long i = 0; i + "
        + s.bytes()
        + " <= "
        + words[1]
        + "Bytes; i += "
        + s.bytes()
        + ") {\n      "
        + method(s)
        + "("
        + words[1]
        + " + i);\n    }\n";
  }
}

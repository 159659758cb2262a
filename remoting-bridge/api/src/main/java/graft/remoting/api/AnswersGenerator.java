package graft.remoting.api;

import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/**
 * Writes the table of the program that calls every function with wrong arguments ({@code
 * client/test/answers}): each exported function with the kinds of its parameters.
 */
final class AnswersGenerator {
  private final Description description;

  AnswersGenerator(Description description) {
    this.description = description;
  }

  /** Returns {@code answers_table.h}. */
  String table() {
    StringBuilder out = new StringBuilder("/* Generated from driver.api. Do not edit. */\n");
    out.append("#include \"graft_rpc.h\"\n\nstatic const struct function functions[] = {\n");
    for (Function f : description.functions()) {
      Function target = f.target().map(description::find).orElse(f);
      if (!f.internal() && isCallable(target)) {
        out.append(row(f.symbol(), target.parameters()));
      }
    }
    return out.append("};\n").toString();
  }

  private static boolean isCallable(Function f) {
    return f.onDevice() && f.serviceClass() != Function.ServiceClass.NONE;
  }

  private static String row(String symbol, List<Parameter> parameters) {
    return "  {\"%s\", %d, {%s}},%n"
        .formatted(
            symbol,
            parameters.size(),
            parameters.isEmpty()
                ? "{0}"
                : parameters.stream()
                    .map(AnswersGenerator::parameter)
                    .collect(Collectors.joining(", ")));
  }

  private static String parameter(Parameter p) {
    return "{%s, %s, %d, \"%s\"}"
        .formatted(
            kind(p),
            p.type().isHandle() ? "GRAFT_" + p.type().handleConstant() : "-1",
            p.type().size(),
            p.name());
  }

  /** Returns the constant of {@code answers.h} for a parameter. */
  private static String kind(Parameter p) {
    return switch (p.direction()) {
      case NEW, OUT -> "RESULT";
      case DEL -> "ENDS";
      case IN -> p.type().isHandle() ? "HANDLES" : "BLOCK";
      case VALUE ->
          switch (p.type().kind()) {
            case HANDLE -> "HANDLE";
            case STRUCT -> "STRUCTURE";
            case STRING -> "TEXT";
            case POINTER, BULK -> "POINTER";
            case SCALAR ->
                switch (p.type().name()) {
                  case "dptr" -> "ADDRESS";
                  case "device", "enum" -> p.type().name().toUpperCase(Locale.ROOT);
                  case "f32" -> "FLOAT";
                  default -> "NUMBER";
                };
          };
    };
  }
}

package graft.remoting.api;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * Writes the C side: marshalling functions ({@code rpc_*}), exported stubs, the look-up table and
 * the version script.
 */
final class CGenerator {
  private static final String HEADER = "/* Generated from driver.api. Do not edit. */\n";

  private final Description description;

  CGenerator(Description description) {
    this.description = description;
  }

  /**
   * Returns {@code graft_rpc.h}: wire ids, the hash, and the prototypes of the marshalling
   * functions.
   */
  String header() {
    StringBuilder out = new StringBuilder(HEADER);
    out.append(
        "#ifndef GRAFT_RPC_H\n#define GRAFT_RPC_H\n\n#include <stddef.h>\n#include <stdint.h>\n\n");
    out.append(String.format("#define GRAFT_API_HASH 0x%016xull%n", description.hash()));
    List<Function> wire = description.wire();
    out.append("#define GRAFT_FUNCTIONS ").append(wire.size()).append("\n\nenum graft_kind {\n");
    for (HandleKind kind : HandleKind.values()) {
      out.append("  GRAFT_").append(kind.name()).append(",\n");
    }
    out.append("  GRAFT_KINDS\n};\n\nenum graft_function {\n");
    for (Function f : wire) {
      out.append("  FN_").append(f.symbol()).append(",\n");
    }
    out.append("};\n\nenum graft_function_trait {\n");
    for (Function.Trait trait : Function.Trait.values()) {
      out.append("  GRAFT_%s = %d,\n".formatted(trait, trait.bit()));
    }
    out.append("};\n\nextern const unsigned char graft_function_traits[GRAFT_FUNCTIONS];\n");
    out.append("extern const char *const graft_function_names[GRAFT_FUNCTIONS];\n");
    out.append("extern const unsigned char graft_function_waits[GRAFT_FUNCTIONS];\n\n");
    for (Function f : wire) {
      out.append("int rpc_").append(f.symbol()).append("(").append(f.declareC()).append(");\n");
    }
    out.append("\n/* Structures that C passes by value. */\n");
    description.functions().stream()
        .flatMap(f -> f.parameters().stream())
        .filter(Parameter::isStructValue)
        .map(Parameter::type)
        .distinct()
        .forEach(
            t ->
                out.append("struct graft_")
                    .append(t.name())
                    .append(" {\n  unsigned char bytes[")
                    .append(t.size())
                    .append("];\n};\n"));
    out.append("\n/* The exported functions. */\n");
    for (Function f : description.functions()) {
      if (f.onDevice() && f.serviceClass() != Function.ServiceClass.NONE) {
        out.append("int ").append(f.symbol()).append("(").append(f.declareC()).append(");\n");
      }
    }
    return out.append("\n#endif\n").toString();
  }

  /** Returns {@code graft_rpc.c}: the marshalling functions. */
  String marshalling() {
    StringBuilder out = new StringBuilder(HEADER);
    out.append(
        "#include \"graft_rpc.h\"\n#include \"api/captures.h\"\n#include \"api/contexts.h\"\n"
            + "#include \"api/rpc.h\"\n\n");
    List<Function> wire = description.wire();
    out.append("const char *const graft_function_names[GRAFT_FUNCTIONS] = {\n");
    wire.forEach(f -> out.append("  \"").append(f.symbol()).append("\",\n"));
    out.append("};\nconst unsigned char graft_function_traits[GRAFT_FUNCTIONS] = {\n");
    wire.forEach(f -> out.append(traits(f)).append(','));
    out.append("\n};\nconst unsigned char graft_function_waits[GRAFT_FUNCTIONS] = {\n");
    wire.forEach(f -> out.append(f.waits() ? "1," : "0,"));
    out.append("\n};\n");
    wire.forEach(f -> out.append(MarshalGenerator.marshal(f)));
    return out.toString();
  }

  /**
   * Returns the check of a parameter of a call that does not wait for the server: the call fails
   * itself if a handle is missing, with the driver's error; a stream may be missing.
   */
  private static String refusal(Function f, Parameter parameter) {
    String error =
        switch (parameter.type().name()) {
          case "event", "function" -> "GRAFT_INVALID_HANDLE";
          case "exec", "pool" -> "GRAFT_INVALID_VALUE";
          default -> "";
        };
    return f.waits() || error.isEmpty() || parameter.direction() == Parameter.Direction.NEW
        ? ""
        : "  if (!graft_r && !" + parameter.name() + ") graft_r = " + error + ";\n";
  }

  /** Returns the lines of an exported stub that refuse the call because of the thread's state. */
  private static String needed(Function f) {
    boolean inContext = f.traits().contains(Function.Trait.IN_CONTEXT);
    return "  int graft_r = "
        + (inContext ? "graft_in_context" : "graft_ready")
        + "();\n"
        + (f.traits().contains(Function.Trait.UNCAPTURED)
            ? "  if (!graft_r) graft_r = graft_uncaptured();\n"
            : "");
  }

  private static int traits(Function f) {
    return f.traits().stream().mapToInt(Function.Trait::bit).sum();
  }

  /**
   * Returns {@code graft_exports.c}: the exported stubs that are not written by hand, and the
   * per-thread variants.
   */
  String exports() {
    StringBuilder out = new StringBuilder(HEADER);
    out.append(
        "#include \"graft_rpc.h\"\n#include \"api/captures.h\"\n#include \"api/contexts.h\"\n"
            + "#include \"api/rpc.h\"\n");
    for (Function f : description.functions()) {
      switch (f.serviceClass()) {
        case ASYNC, SYNC -> {
          if (!f.internal() && !f.custom()) {
            String names =
                f.parameters().stream().map(Parameter::name).collect(Collectors.joining(", "));
            out.append("\nGRAFT_EXPORT int ")
                .append(f.symbol())
                .append("(")
                .append(f.declareC())
                .append(") {\n");
            out.append(needed(f));
            f.parameters().forEach(p -> out.append(refusal(f, p)));
            out.append("  return graft_r ? graft_r : rpc_")
                .append(f.symbol())
                .append("(")
                .append(names)
                .append(");\n}\n");
          }
        }
        case NONE ->
            out.append("\nGRAFT_EXPORT int ")
                .append(f.symbol())
                .append("(void) {\n  return graft_not_served(\"")
                .append(f.symbol())
                .append("\");\n}\n");
        case ALIAS -> {
          Function target = aliased(f);
          String names =
              target.parameters().stream().map(Parameter::name).collect(Collectors.joining(", "));
          out.append("\nGRAFT_EXPORT int ")
              .append(f.symbol())
              .append("(")
              .append(target.declareC())
              .append(") {\n");
          out.append("  return ")
              .append(target.symbol())
              .append("(")
              .append(names)
              .append(");\n}\n");
        }
        case DATA -> out.append("\nGRAFT_EXPORT uint64_t ").append(f.symbol()).append("[2];\n");
        default -> {}
      }
      if (f.perThread().isPresent()) {
        String symbol = f.symbol() + "_" + f.perThread().get().suffix();
        if (f.serviceClass() == Function.ServiceClass.NONE) {
          out.append("\nGRAFT_EXPORT int ")
              .append(symbol)
              .append("(void) {\n  return graft_not_served(\"")
              .append(symbol)
              .append("\");\n}\n");
        } else {
          Function target = aliased(f);
          String names =
              target.parameters().stream().map(Parameter::name).collect(Collectors.joining(", "));
          out.append("\nGRAFT_EXPORT int ")
              .append(symbol)
              .append("(")
              .append(target.declareC())
              .append(") {\n");
          out.append("  int before = graft_per_thread_enter();\n  int r = ")
              .append(f.symbol())
              .append("(")
              .append(names)
              .append(");\n  graft_per_thread_leave(before);\n  return r;\n}\n");
        }
      }
    }
    return out.toString();
  }

  /** Returns the target of an alias, or the function itself. */
  private Function aliased(Function f) {
    return f.target().map(description::find).orElse(f);
  }

  /**
   * Returns {@code graft_procs.h}, the table that cuGetProcAddress searches: rows sorted by name,
   * then version.
   */
  String procs() {
    Map<String, TreeMap<Integer, Function>> byName = new TreeMap<>();
    for (Function f : description.functions()) {
      f.lookup()
          .ifPresent(
              l -> byName.computeIfAbsent(l.name(), k -> new TreeMap<>()).put(l.version(), f));
    }
    StringBuilder declare = new StringBuilder(HEADER);
    StringBuilder rows = new StringBuilder("static const struct graft_proc graft_procs[] = {\n");
    for (Map.Entry<String, TreeMap<Integer, Function>> e : byName.entrySet()) {
      for (Map.Entry<Integer, Function> v : e.getValue().entrySet()) {
        Function f = v.getValue();
        boolean none = f.serviceClass() == Function.ServiceClass.NONE;
        String per = "0";
        int perVersion = 0;
        if (f.perThread().isPresent()) {
          String symbol = f.symbol() + "_" + f.perThread().get().suffix();
          perVersion = f.perThread().get().version();
          declare
              .append("extern int ")
              .append(symbol)
              .append(none ? "(void);\n" : "(" + aliased(f).declareC() + ");\n");
          per = "(void *)" + symbol;
        }
        f = aliased(f);
        if (none) {
          declare.append("extern int ").append(f.symbol()).append("(void);\n");
        }
        rows.append("  {\"")
            .append(e.getKey())
            .append("\", ")
            .append(v.getKey())
            .append(", (void *)")
            .append(f.symbol())
            .append(", ")
            .append(perVersion)
            .append(", ")
            .append(per)
            .append("},\n");
      }
    }
    return declare.append("\n").append(rows).append("};\n").toString();
  }

  /** Returns {@code exports.map}: the version script, which hides all other symbols. */
  String versionScript() {
    String names =
        description.functions().stream()
            .filter(f -> !f.internal())
            .flatMap(
                f ->
                    f.perThread().isPresent()
                        ? java.util.stream.Stream.of(
                            f.symbol(), f.symbol() + "_" + f.perThread().get().suffix())
                        : java.util.stream.Stream.of(f.symbol()))
            .collect(Collectors.joining(";\n    ", "    ", ";\n"));
    return "{\n  global:\n    graftChannel;\n    graftServers;\n    graftVersion;\n"
        + names
        + "  local: *;\n};\n";
  }
}

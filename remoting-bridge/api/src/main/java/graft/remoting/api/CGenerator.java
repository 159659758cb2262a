package graft.remoting.api;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * Writes the C side: marshalling ({@code rpc_*}), exported stubs, the look-up table and the version
 * script.
 */
final class CGenerator {
  private static final String HEADER = "/* Generated from driver.api. Do not edit. */\n";

  private final Description description;

  CGenerator(Description description) {
    this.description = description;
  }

  /** {@code graft_rpc.h}: wire ids, the hash, and the marshalling functions' prototypes. */
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
    out.append("};\n\nextern const char *const graft_function_names[GRAFT_FUNCTIONS];\n");
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

  /** {@code graft_rpc.c}: the marshalling. */
  String marshalling() {
    StringBuilder out = new StringBuilder(HEADER);
    out.append("#include \"graft_rpc.h\"\n#include \"api/rpc.h\"\n\n");
    List<Function> wire = description.wire();
    out.append("const char *const graft_function_names[GRAFT_FUNCTIONS] = {\n");
    wire.forEach(f -> out.append("  \"").append(f.symbol()).append("\",\n"));
    out.append("};\nconst unsigned char graft_function_waits[GRAFT_FUNCTIONS] = {\n");
    wire.forEach(f -> out.append(f.waits() ? "1," : "0,"));
    out.append("\n};\n");
    wire.forEach(f -> out.append(marshal(f)));
    return out.toString();
  }

  private static String marshal(Function f) {
    StringBuilder out = new StringBuilder();
    out.append("\nint rpc_").append(f.symbol()).append("(").append(f.declareC()).append(") {\n");
    StringBuilder ids = new StringBuilder();
    List<String> sizes = new ArrayList<>();
    StringBuilder puts = new StringBuilder();
    List<String> results = new ArrayList<>();
    StringBuilder after = new StringBuilder();
    StringBuilder failed = new StringBuilder();
    int fixed = 0;
    for (Parameter p : f.parameters()) {
      String n = p.name();
      Type t = p.type();
      String kind = t.isHandle() ? "GRAFT_" + t.handleConstant() : "";
      switch (p.direction()) {
        case VALUE, DEL -> {
          switch (t.kind()) {
            case HANDLE -> {
              fixed += 8;
              ids.append("  uint64_t id_")
                  .append(n)
                  .append(";\n  if ((graft_r = graft_id(")
                  .append(kind)
                  .append(", ")
                  .append(n)
                  .append(", &id_")
                  .append(n)
                  .append("))) return graft_r;\n");
              puts.append("  graft_put(&call, id_").append(n).append(");\n");
              if (p.direction() == Parameter.Direction.DEL) {
                after
                    .append("  graft_object_free(")
                    .append(kind)
                    .append(", ")
                    .append(n)
                    .append(");\n");
              }
            }
            case STRING -> {
              sizes.add("graft_block_size(graft_text_size(" + n + "))");
              puts.append("  graft_put_block(&call, ")
                  .append(n)
                  .append(", graft_text_size(")
                  .append(n)
                  .append("));\n");
            }
            case BULK -> puts.append("");
            default -> {
              fixed += 8;
              puts.append("  graft_put(&call, ")
                  .append(
                      t.isFloat()
                          ? "graft_float_bits(" + n + ")"
                          : t.isSigned() ? "(uint64_t)(int64_t)" + n : "(uint64_t)" + n)
                  .append(");\n");
            }
          }
        }
        case NEW -> {
          fixed += 8;
          ids.append("  struct graft_object *new_")
              .append(n)
              .append(" = graft_object_new(")
              .append(kind)
              .append(");\n");
          ids.append("  if (!new_").append(n).append(") return GRAFT_OUT_OF_MEMORY;\n");
          puts.append("  graft_put(&call, graft_object_id(new_").append(n).append("));\n");
          after.append("  *").append(n).append(" = new_").append(n).append(";\n");
          failed
              .append("  graft_object_free(")
              .append(kind)
              .append(", new_")
              .append(n)
              .append(");\n");
        }
        case IN -> {
          String bytes =
              p.isArray() ? "(size_t)" + p.count() + " * " + t.size() : Integer.toString(t.size());
          sizes.add("graft_block_size(" + n + " ? " + bytes + " : 0)");
          if (t.isHandle()) {
            puts.append("  graft_put_handles(&call, ")
                .append(kind)
                .append(", (void *const *)")
                .append(n)
                .append(", ")
                .append(n)
                .append(" ? (size_t)")
                .append(p.count())
                .append(" : 0);\n");
          } else {
            puts.append("  graft_put_block(&call, ")
                .append(n)
                .append(", ")
                .append(n)
                .append(" ? ")
                .append(bytes)
                .append(" : 0);\n");
          }
        }
        case OUT -> {
          fixed += 8;
          puts.append("  graft_put(&call, ").append(n).append(" != NULL);\n");
          String bytes =
              p.isArray() ? "(size_t)" + p.count() + " * " + t.size() : Integer.toString(t.size());
          results.add(
              "{" + n + ", " + n + " ? " + bytes + " : 0, " + (t.isHandle() ? kind : "-1") + "}");
        }
      }
    }
    // Null handles that a program passes where one is made would be written through: refuse them
    // here.
    for (Parameter p : f.parameters()) {
      if (p.isNew()) {
        out.append("  if (!").append(p.name()).append(") return GRAFT_INVALID_VALUE;\n");
      }
    }
    if (!ids.isEmpty()) {
      out.append("  int graft_r;\n").append(ids);
    } else {
      out.append("  int graft_r;\n");
    }
    String size = fixed + (sizes.isEmpty() ? "" : " + " + String.join(" + ", sizes));
    out.append("  struct graft_call call;\n");
    out.append("  if ((graft_r = graft_begin(&call, FN_")
        .append(f.symbol())
        .append(", ")
        .append(size)
        .append("))) {\n")
        .append(failed.toString().indent(2))
        .append("    return graft_r;\n  }\n");
    out.append(puts);
    if (f.bulk().isPresent()) {
      out.append("  graft_bulk(&call, ")
          .append(f.bulk().get().name())
          .append(", ")
          .append(bulkLength(f))
          .append(");\n");
    }
    if (f.waits()) {
      if (results.isEmpty()) {
        out.append("  graft_r = graft_wait(&call, NULL, 0);\n");
      } else {
        out.append("  struct graft_result results[] = {")
            .append(String.join(", ", results))
            .append("};\n");
        out.append("  graft_r = graft_wait(&call, results, ").append(results.size()).append(");\n");
      }
    } else {
      out.append("  graft_r = graft_send(&call);\n");
    }
    if (!failed.isEmpty()) {
      out.append("  if (graft_r) {\n")
          .append(failed.toString().indent(2))
          .append("    return graft_r;\n  }\n");
    }
    out.append(after).append("  return graft_r;\n}\n");
    return out.toString();
  }

  /** Bulk data is always followed by its length. */
  private static String bulkLength(Function f) {
    List<Parameter> ps = f.parameters();
    for (int i = 0; i < ps.size() - 1; i++) {
      if (ps.get(i).isBulk()) {
        return ps.get(i + 1).name();
      }
    }
    throw new IllegalStateException(f.symbol() + ": bulk data without a length after it");
  }

  /**
   * {@code graft_exports.c}: exported stubs for all that is not written by hand, and per-thread
   * variants.
   */
  String exports() {
    StringBuilder out = new StringBuilder(HEADER);
    out.append("#include \"graft_rpc.h\"\n#include \"api/rpc.h\"\n");
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
            out.append("  return rpc_")
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

  /** What an alias stands for; any other function itself. */
  private Function aliased(Function f) {
    return f.target().map(description::find).orElse(f);
  }

  /** {@code graft_procs.h}: what cuGetProcAddress finds: rows sorted by name, then version. */
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

  /** {@code exports.map}: the version script; everything else stays hidden. */
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
    return "{\n  global:\n    graftChannel;\n    graftVersion;\n" + names + "  local: *;\n};\n";
  }
}

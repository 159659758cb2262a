package graft.remoting.api;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Writes the client's marshalling of one function, {@code rpc_SYMBOL}. */
final class MarshalGenerator {
  private final Function function;
  private final StringBuilder owners = new StringBuilder();
  private final StringBuilder ids = new StringBuilder();
  private final StringBuilder objects = new StringBuilder();
  private final List<String> sizes = new ArrayList<>();
  private final StringBuilder puts = new StringBuilder();
  private final List<String> results = new ArrayList<>();
  private final StringBuilder after = new StringBuilder();
  private final StringBuilder failed = new StringBuilder();
  private int fixedBytes;

  private MarshalGenerator(Function function) {
    this.function = function;
  }

  /** Returns the text of the function. */
  static String marshal(Function f) {
    MarshalGenerator generator = new MarshalGenerator(f);
    f.parameters().forEach(generator::parameter);
    return generator.text();
  }

  private void parameter(Parameter p) {
    switch (p.direction()) {
      case VALUE, DEL -> value(p);
      case NEW -> made(p);
      case IN -> given(p);
      case OUT -> result(p);
    }
  }

  private void value(Parameter p) {
    String n = p.name();
    switch (p.type().kind()) {
      case HANDLE -> handle(p);
      case STRING -> {
        sizes.add("graft_block_size(graft_text_size(%s))".formatted(n));
        puts.append("  graft_put_block(&call, %1$s, graft_text_size(%1$s));\n".formatted(n));
      }
      case BULK -> {}
      default -> {
        fixedBytes += 8;
        if (isDevice(p)) {
          owner("graft_call_device(&call, %s)".formatted(n));
        }
        puts.append("  graft_put(&call, %s);\n".formatted(word(p)));
      }
    }
  }

  private static String word(Parameter p) {
    if (isDevice(p)) {
      return "(uint64_t)(int64_t)graft_device_ordinal(call.session, " + p.name() + ")";
    }
    if (p.type().isFloat()) {
      return "graft_float_bits(" + p.name() + ")";
    }
    return (p.type().isSigned() ? "(uint64_t)(int64_t)" : "(uint64_t)") + p.name();
  }

  private static boolean isDevice(Parameter p) {
    return p.type().name().equals("device");
  }

  /** Adds a call that finds the session of a parameter, before the handles are looked up. */
  private void owner(String call) {
    owners.append("  if ((graft_r = %s)) return graft_r;\n".formatted(call));
  }

  private void handle(Parameter p) {
    fixedBytes += 8;
    ids.append(
        """
          uint64_t id_%1$s;
          if ((graft_r = graft_call_handle(&call, %2$s, %1$s, &id_%1$s))) return graft_r;
        """
            .formatted(p.name(), kind(p)));
    puts.append("  graft_put(&call, id_%s);\n".formatted(p.name()));
    if (p.direction() == Parameter.Direction.DEL) {
      after.append("  graft_object_free(%s, %s);\n".formatted(kind(p), p.name()));
    }
  }

  private void made(Parameter p) {
    fixedBytes += 8;
    objects.append(
        """
          struct graft_object *new_%1$s = graft_object_new(call.session, %2$s);
          if (!new_%1$s) return GRAFT_OUT_OF_MEMORY;
        """
            .formatted(p.name(), kind(p)));
    puts.append("  graft_put(&call, graft_object_id(new_%s));\n".formatted(p.name()));
    after.append("  *%1$s = new_%1$s;\n".formatted(p.name()));
    failed.append("  graft_object_free(%s, new_%s);\n".formatted(kind(p), p.name()));
  }

  private void given(Parameter p) {
    String n = p.name();
    sizes.add("graft_block_size(%s ? %s : 0)".formatted(n, bytes(p)));
    located(p)
        .ifPresent(
            offset ->
                owner(
                    "graft_call_located(&call, %1$s, %1$s ? %2$s : 0, %3$d, %4$d)"
                        .formatted(
                            n,
                            p.isArray() ? "(size_t)" + p.count() : "1",
                            p.type().size(),
                            offset)));
    puts.append(
        p.type().isHandle()
            ? "  graft_put_handles(&call, %2$s, (void *const *)%1$s, %1$s ? (size_t)%3$s : 0);\n"
                .formatted(n, kind(p), p.count())
            : located(p)
                .map(
                    offset ->
                        "  graft_put_located(&call, %1$s, %1$s ? %2$s : 0, %3$d, %4$d);\n"
                            .formatted(
                                n,
                                p.isArray() ? "(size_t)" + p.count() : "1",
                                p.type().size(),
                                offset))
                .orElse(
                    "  graft_put_block(&call, %1$s, %1$s ? %2$s : 0);\n".formatted(n, bytes(p))));
  }

  /**
   * Returns the offset of the CUmemLocation in a structure, in which the program names a device.
   */
  private static Optional<Integer> located(Parameter p) {
    String structure = Optional.ofNullable(p.meaning()).flatMap(Meaning::structure).orElse("");
    return switch (structure) {
      case "location", "access" -> Optional.of(0);
      case "memoryProperties", "poolProperties" -> Optional.of(8);
      default -> Optional.empty();
    };
  }

  private void result(Parameter p) {
    fixedBytes += 8;
    String n = p.name();
    puts.append("  graft_put(&call, %s != NULL);\n".formatted(n));
    String kind = p.type().isHandle() ? kind(p) : "-1";
    results.add("{%1$s, %1$s ? %2$s : 0, %3$s}".formatted(n, bytes(p), kind));
  }

  private static String kind(Parameter p) {
    return "GRAFT_" + p.type().handleConstant();
  }

  private static String bytes(Parameter p) {
    int size = p.type().size();
    return p.isArray() ? "(size_t)" + p.count() + " * " + size : Integer.toString(size);
  }

  private String text() {
    String size = fixedBytes + (sizes.isEmpty() ? "" : " + " + String.join(" + ", sizes));
    return """

        int rpc_%1$s(%2$s) {
        %3$s  int graft_r;
          struct graft_call call;
          call.session = NULL;
          call.stream = GRAFT_NO_STREAM;
        %4$s  if ((graft_r = graft_begin(&call, FN_%1$s, %5$s))) {
        %6$s    return graft_r;
          }
        %7$s%8$s%9$s%10$s%11$s  return graft_r;
        }
        """
        .formatted(
            function.symbol(),
            function.declareC(),
            refusals(),
            owners.append(ids).append(objects),
            size,
            failed.toString().indent(2),
            puts,
            bulk(),
            exchange(),
            undo(),
            after);
  }

  /** Returns the checks for NULL in the place of handles that are to be written. */
  private String refusals() {
    StringBuilder out = new StringBuilder();
    for (Parameter p : function.parameters()) {
      if (p.isNew()) {
        out.append("  if (!%s) return GRAFT_INVALID_VALUE;\n".formatted(p.name()));
      }
      if (p.direction() == Parameter.Direction.IN && p.isArray() && !p.count().matches("\\d+")) {
        out.append(
            "  if (%s > GRAFT_MOST_ELEMENTS) return GRAFT_INVALID_VALUE;\n".formatted(p.count()));
      }
    }
    return out.toString();
  }

  private String bulk() {
    return function
        .bulk()
        .map(
            bulk ->
                "  graft_bulk(&call, %s, %s);\n"
                    .formatted(bulk.name(), function.bulkLength().name()))
        .orElse("");
  }

  private String exchange() {
    if (!function.waits()) {
      return "  graft_r = graft_send(&call);\n";
    }
    if (results.isEmpty()) {
      return "  graft_r = graft_wait(&call, NULL, 0);\n";
    }
    return """
          struct graft_result results[] = {%s};
          graft_r = graft_wait(&call, results, %d);
        """
        .formatted(String.join(", ", results), results.size());
  }

  private String undo() {
    return failed.isEmpty()
        ? ""
        : "  if (graft_r) {\n" + failed.toString().indent(2) + "    return graft_r;\n  }\n";
  }
}

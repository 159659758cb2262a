package graft.remoting.api;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * Writes the Java side: the device interface, its native binding, the session's interface and the
 * dispatcher.
 */
final class JavaGenerator {
  private static final String HEADER = "// Generated from driver.api. Do not edit.\n";

  private final Description description;
  private final CheckGenerator checks;

  JavaGenerator(Description description) {
    this.description = description;
    this.checks = new CheckGenerator(description);
  }

  private List<Function> device() {
    return description.functions().stream().filter(Function::onDevice).toList();
  }

  private static String declare(Function f) {
    return f.parameters().stream()
        .map(p -> p.java() + " " + p.name())
        .collect(Collectors.joining(", "));
  }

  private static String names(Function f) {
    return f.parameters().stream().map(Parameter::name).collect(Collectors.joining(", "));
  }

  /** The functions of the device by group, in the order of the description. */
  private Map<String, List<Function>> groups() {
    return device().stream()
        .collect(Collectors.groupingBy(Function::group, LinkedHashMap::new, Collectors.toList()));
  }

  /**
   * The sources of {@code graft.remoting.device} by class name: one interface a group of functions,
   * {@code CudaDevice} over all of them, {@code ForwardingDevice} and {@code ComposedDevice}.
   */
  Map<String, String> deviceInterfaces() {
    Map<String, String> sources = new LinkedHashMap<>();
    groups().forEach((group, functions) -> sources.put(group, deviceInterface(group, functions)));
    sources.put("ForwardingDevice", forwardingDevice());
    sources.put("ComposedDevice", composedDevice());
    return sources;
  }

  /** An interface with one method a driver function, with the C interface's raw types. */
  private String deviceInterface(String group, List<Function> functions) {
    StringBuilder out = new StringBuilder(HEADER);
    out.append("package graft.remoting.device;\n\n");
    if (group.equals(Function.NO_GROUP)) {
      out.append(
          "/**\n * A CUDA driver: one method for each function under its exported symbol, as the C interface\n");
      out.append(
          " * has it. Pointers, handles, sizes and device pointers are longs (addresses in this process), the\n");
      out.append(
          " * result is a CUresult. What a device lacks answers CUDA_ERROR_NOT_SUPPORTED.\n */\n");
      out.append("public interface CudaDevice\n    extends ")
          .append(String.join(",\n        ", parts()))
          .append(" {\n");
    } else {
      out.append("/** A group of functions of {@link CudaDevice}. */\n");
      out.append("public interface ").append(group).append(" {\n");
    }
    for (Function f : functions) {
      out.append("\n  default int ")
          .append(f.symbol())
          .append("(")
          .append(declare(f))
          .append(") {\n");
      out.append("    return CudaResult.NOT_SUPPORTED;\n  }\n");
    }
    return out.append("}\n").toString();
  }

  private List<String> parts() {
    return groups().keySet().stream().filter(g -> !g.equals(Function.NO_GROUP)).toList();
  }

  /** {@code ComposedDevice}: a device of one part a group. */
  private String composedDevice() {
    StringBuilder out = new StringBuilder(HEADER);
    out.append("package graft.remoting.device;\n\n");
    out.append(
        "/** A device that is made of parts, each of which has the functions of one group. */\n");
    out.append("public interface ComposedDevice extends CudaDevice {\n");
    groups()
        .forEach(
            (group, functions) -> {
              if (group.equals(Function.NO_GROUP)) {
                return;
              }
              String part = Character.toLowerCase(group.charAt(0)) + group.substring(1);
              out.append("\n  ").append(group).append(" ").append(part).append("();\n");
              for (Function f : functions) {
                out.append("\n  @Override\n  default int ").append(f.symbol());
                out.append("(").append(declare(f)).append(") {\n    return ").append(part);
                out.append("().").append(f.symbol()).append("(").append(names(f));
                out.append(");\n  }\n");
              }
            });
    return out.append("}\n").toString();
  }

  /** {@code ForwardingDevice}: passes every call on, for decorators. */
  private String forwardingDevice() {
    StringBuilder out = new StringBuilder(HEADER);
    out.append("package graft.remoting.device;\n\n");
    out.append(
        "/** Passes every call to another device; a decorator overrides what it changes. */\n");
    out.append("public abstract class ForwardingDevice implements CudaDevice {\n");
    out.append("  protected final CudaDevice next;\n\n");
    out.append("  protected ForwardingDevice(CudaDevice next) {\n    this.next = next;\n  }\n");
    for (Function f : device()) {
      out.append("\n  @Override\n  public int ")
          .append(f.symbol())
          .append("(")
          .append(declare(f))
          .append(") {\n");
      out.append("    return next.")
          .append(f.symbol())
          .append("(")
          .append(names(f))
          .append(");\n  }\n");
    }
    return out.append("}\n").toString();
  }

  /**
   * {@code graft.remoting.server.NativeCuda}: the same functions as native methods for JNA's direct
   * mapping.
   */
  String nativeCuda() {
    StringBuilder out = new StringBuilder(HEADER);
    out.append("package graft.remoting.server;\n\n");
    out.append("/** The driver's functions as native methods; NativeDevice binds them. */\n");
    out.append("final class NativeCuda {\n  private NativeCuda() {}\n");
    for (Function f : device()) {
      out.append("\n  static native int ")
          .append(f.symbol())
          .append("(")
          .append(declare(f))
          .append(");\n");
    }
    return out.append("}\n").toString();
  }

  /**
   * {@code graft.remoting.server.NativeCalls}: CudaDevice over NativeCuda; a missing symbol answers
   * NOT_SUPPORTED.
   */
  String nativeCalls() {
    StringBuilder out = new StringBuilder(HEADER);
    out.append("package graft.remoting.server;\n\nimport graft.remoting.device.CudaDevice;\n");
    out.append(
        "import graft.remoting.device.CudaResult;\nimport java.util.function.Predicate;\n\n");
    out.append("/** The real driver behind the device interface, function by function. */\n");
    out.append("abstract class NativeCalls implements CudaDevice {\n");
    int index = 0;
    out.append("  private final boolean[] present;\n\n");
    out.append(
        "  /**\n   * Binds the functions that are there.\n   *\n   * @param present tells whether the driver exports a symbol\n   */\n");
    out.append(
        "  NativeCalls(Predicate<String> present) {\n    this.present = new boolean[SYMBOLS.length];\n");
    out.append(
        "    for (int i = 0; i < SYMBOLS.length; i++) {\n      this.present[i] = present.test(SYMBOLS[i]);\n    }\n  }\n\n");
    out.append("  static final String[] SYMBOLS = {\n");
    for (Function f : device()) {
      out.append("    \"").append(f.symbol()).append("\",\n");
    }
    out.append("  };\n");
    for (Function f : device()) {
      out.append("\n  @Override\n  public int ")
          .append(f.symbol())
          .append("(")
          .append(declare(f))
          .append(") {\n");
      out.append("    return present[")
          .append(index++)
          .append("] ? NativeCuda.")
          .append(f.symbol())
          .append("(");
      out.append(names(f)).append(") : CudaResult.NOT_SUPPORTED;\n  }\n");
    }
    return out.append("}\n").toString();
  }

  /** {@code graft.remoting.server.SessionCalls}: what the session itself executes. */
  String sessionCalls() {
    StringBuilder out = new StringBuilder(HEADER);
    out.append("package graft.remoting.server;\n\n");
    out.append(
        "/**\n * The calls that the session executes instead of passing them to the device. Handles are the\n");
    out.append(
        " * device's; result parameters are addresses in the reply, 0 if not wanted. Bulk data is read from the\n");
    out.append(" * call's channel. A method that replies later returns Call.DEFERRED.\n */\n");
    out.append("interface SessionCalls {\n");
    for (Function f : description.wire()) {
      if (f.session()) {
        String list =
            f.parameters().stream()
                .filter(p -> !p.isBulk())
                .map(p -> ", " + p.java() + " " + p.name())
                .collect(Collectors.joining());
        out.append("\n  int ").append(f.symbol()).append("(Call call").append(list).append(");\n");
      }
    }
    return out.append("}\n").toString();
  }

  /** {@code graft.remoting.server.Dispatcher}: decodes a record, calls, encodes the results. */
  String dispatcher() {
    List<Function> wire = description.wire();
    StringBuilder out = new StringBuilder(HEADER);
    out.append("package graft.remoting.server;\n\nimport graft.remoting.api.HandleKind;\n");
    out.append("import graft.remoting.device.CudaDevice;\nimport graft.remoting.device.Extent;\n");
    out.append("import graft.remoting.device.Memory;\n\n");
    out.append(
        "/** Decodes records, checks what they name, calls the device or the session, encodes results. */\n");
    out.append("final class Dispatcher extends DispatcherBase {\n");
    out.append("  static final long API_HASH = ").append(description.hash()).append("L;\n");
    out.append("  static final int FUNCTIONS = ").append(wire.size()).append(";\n\n");
    out.append("  private static final String[] NAMES = {\n");
    for (Function f : wire) {
      out.append("    \"").append(f.symbol()).append("\",\n");
    }
    out.append("  };\n\n  /** The symbol of a wire id. */\n  static String name(int function) {\n");
    out.append(
        "    return function < 0 || function >= FUNCTIONS ? \"function \" + function : NAMES[function];\n  }\n\n");
    out.append("  Dispatcher(CudaDevice device, HandleTables handles, SessionCalls session,");
    out.append(" AddressChecks checks) {\n");
    out.append("    super(device, handles, session, checks);\n  }\n\n");
    out.append(
        "  @Override\n  int execute(int function, Call call) {\n    return switch (function) {\n");
    for (int i = 0; i < wire.size(); i++) {
      out.append("      case ")
          .append(i)
          .append(" -> ")
          .append(wire.get(i).symbol())
          .append("(call);\n");
    }
    out.append(
        "      default -> throw new ProtocolException(\"unknown function \" + function);\n    };\n  }\n");
    for (Function f : wire) {
      out.append(decoder(f));
    }
    out.append(checks.methods());
    return out.append("}\n").toString();
  }

  private String decoder(Function f) {
    StringBuilder out = new StringBuilder();
    out.append("\n  private int ").append(f.symbol()).append("(Call call) {\n");
    StringBuilder lengths = new StringBuilder();
    StringBuilder named = new StringBuilder();
    StringBuilder after = new StringBuilder();
    // Results are laid out after the whole request is read, since their counts may follow them.
    StringBuilder results = new StringBuilder();
    for (Parameter p : f.parameters()) {
      String n = p.name();
      Type t = p.type();
      if (p.isBulk()) {
        continue;
      }
      named.append(checks.parameter(f, p));
      switch (p.direction()) {
        case VALUE ->
            out.append("    ")
                .append(p.java())
                .append(" ")
                .append(n)
                .append(" = ")
                .append(read(t))
                .append(";\n");
        case DEL -> {
          out.append("    long ").append(n).append("Id = next();\n");
          out.append("    long ")
              .append(n)
              .append(" = handle(HandleKind.")
              .append(t.handleConstant())
              .append(", ")
              .append(n)
              .append("Id);\n");
          after
              .append("    handles.remove(HandleKind.")
              .append(t.handleConstant())
              .append(", ")
              .append(n)
              .append("Id);\n");
        }
        case NEW -> {
          out.append("    long ").append(n).append("Id = next();\n");
          out.append("    long ").append(n).append(" = scratch(8);\n");
          after
              .append("    if (result == 0) {\n      handles.put(HandleKind.")
              .append(t.handleConstant())
              .append(", ")
              .append(n)
              .append("Id, peek(")
              .append(n)
              .append("));\n    }\n");
        }
        case IN -> {
          out.append("    long ").append(n).append(" = block();\n");
          if (p.isArray()) {
            out.append("    long ").append(n).append("Bytes = blockBytes;\n");
            lengths
                .append("    expect(\"")
                .append(n)
                .append("\", ")
                .append(n)
                .append("Bytes, ")
                .append(bytes(p))
                .append(");\n");
            if (t.isHandle()) {
              out.append("    resolve(HandleKind.")
                  .append(t.handleConstant())
                  .append(", ")
                  .append(n)
                  .append(", blockBytes);\n");
            }
          } else {
            out.append("    expect(\"")
                .append(n)
                .append("\", blockBytes, ")
                .append(t.size())
                .append(");\n");
          }
        }
        case OUT -> {
          out.append("    boolean ").append(n).append("Wanted = next() != 0;\n");
          String size = bytes(p);
          results
              .append("    long ")
              .append(n)
              .append(" = result(")
              .append(n)
              .append("Wanted, ")
              .append(size)
              .append(");\n");
          if (t.isHandle()) {
            after
                .append("    intern(HandleKind.")
                .append(t.handleConstant())
                .append(", ")
                .append(n)
                .append(", ")
                .append(p.isArray() ? p.count() : "1")
                .append(", result);\n");
          }
        }
      }
    }
    out.append(lengths).append(named).append(results).append("    endOfRequest();\n");
    String args =
        f.parameters().stream()
            .filter(p -> !p.isBulk())
            .map(Parameter::name)
            .collect(Collectors.joining(", "));
    String target =
        f.session()
            ? "this.session." + f.symbol() + "(call" + (args.isEmpty() ? "" : ", " + args) + ")"
            : "this.device." + f.symbol() + "(" + args + ")";
    if (after.isEmpty()) {
      out.append("    return ").append(target).append(";\n");
    } else {
      out.append("    int result = ")
          .append(target)
          .append(";\n")
          .append(after)
          .append("    return result;\n");
    }
    return out.append("  }\n").toString();
  }

  /** The bytes of a parameter; a count comes from the client, so that the product is checked. */
  private static String bytes(Parameter p) {
    int size = p.type().size();
    return p.isArray() ? "times(" + p.count() + ", " + size + ")" : Integer.toString(size);
  }

  private static String read(Type t) {
    return switch (t.kind()) {
      case HANDLE -> "handle(HandleKind." + t.handleConstant() + ", next())";
      case STRING -> "text()";
      default ->
          t.isFloat()
              ? "Float.intBitsToFloat((int) next())"
              : t.java().equals("int") ? "(int) next()" : "next()";
    };
  }
}

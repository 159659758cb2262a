package graft.remoting.api;

import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Writes {@code Dispatcher}, which decodes a record, makes the call, and encodes the results. */
final class DispatcherGenerator {
  private final Description description;
  private final CheckGenerator checks;

  DispatcherGenerator(Description description) {
    this.description = description;
    this.checks = new CheckGenerator(description);
  }

  /** Returns {@code graft.remoting.server.session.call.Dispatcher}. */
  String dispatcher() {
    List<Function> wire = description.wire();
    return """
        // Generated from driver.api. Do not edit.
        package graft.remoting.server.session.call;

        import graft.remoting.api.HandleKind;
        import graft.remoting.device.CudaDevice;
        import graft.remoting.device.Extent;
        import graft.remoting.device.Memory;
        import graft.remoting.server.protocol.ProtocolException;
        import graft.remoting.server.session.memory.KnownNumbers;
        import java.util.List;

        /** Decodes records, checks what they name, calls the device or the session, encodes results. */
        public final class Dispatcher extends DispatcherBase {
          public static final long API_HASH = %dL;
          static final int FUNCTIONS = %d;

          private static final String[] NAMES = {
        %s  };

          /** The symbol of a wire id. */
          public static String name(int function) {
            return function < 0 || function >= FUNCTIONS ? "function " + function : NAMES[function];
          }

          private static final boolean[] WORKS = {
        %s  };

          /** Whether a function queues work for the GPU, which has to wait for the session's turn. */
          public static boolean works(int function) {
            return function < FUNCTIONS && WORKS[function];
          }

          public Dispatcher(
              CudaDevice device, HandleTables handles, SessionCalls session, AddressChecks checks) {
            super(device, handles, session, checks);
          }

          /** The earlier releases whose clients are served, with the present ids of their functions. */
          static final List<ClientRelease> EARLIER =
              List.of(
        %s);

          @Override
          int execute(int function, Call call) {
            return switch (function) {
        %s      default -> throw new ProtocolException("unknown function " + function);
            };
          }
        %s%s}
        """
        .formatted(
            description.hash(),
            wire.size(),
            wire.stream().map(f -> "    \"" + f.symbol() + "\",\n").collect(Collectors.joining()),
            wire.stream().map(f -> "    " + f.works() + ",\n").collect(Collectors.joining()),
            EarlierRelease.all().stream().map(this::earlier).collect(Collectors.joining(",\n")),
            IntStream.range(0, wire.size())
                .mapToObj(i -> "      case " + i + " -> " + wire.get(i).symbol() + "(call);\n")
                .collect(Collectors.joining()),
            wire.stream().map(f -> new Decoder(f).method()).collect(Collectors.joining()),
            checks.methods());
  }

  private String earlier(EarlierRelease release) {
    return release.ids(description).stream()
        .map(String::valueOf)
        .collect(
            Collectors.joining(
                ", ",
                String.format("          new ClientRelease(%dL, List.of(", release.hash()),
                "))"));
  }

  /** Writes the method that decodes the records of one function. */
  private final class Decoder {
    private final Function function;
    private final StringBuilder reads = new StringBuilder();
    private final StringBuilder lengths = new StringBuilder();
    private final StringBuilder named = new StringBuilder();

    /**
     * Statements that allocate the results. They follow the whole request, because a result's count
     * may come after the result in the record.
     */
    private final StringBuilder results = new StringBuilder();

    private final StringBuilder after = new StringBuilder();

    Decoder(Function function) {
      this.function = function;
    }

    String method() {
      function.parameters().stream().filter(p -> !p.isBulk()).forEach(this::parameter);
      String bulk = function.bulk().isPresent() ? function.bulkLength().name() : "0";
      return "\n  private int %s(Call call) {\n%s%s%s%s    endOfRequest(%s);\n%s  }\n"
          .formatted(function.symbol(), reads, lengths, named, results, bulk, callAndReturn());
    }

    private void parameter(Parameter p) {
      named.append(checks.parameter(function, p));
      switch (p.direction()) {
        case VALUE ->
            reads.append("    %s %s = %s;\n".formatted(p.java(), p.name(), read(p.type())));
        case DEL -> ended(p);
        case NEW -> made(p);
        case IN -> given(p);
        case OUT -> result(p);
      }
    }

    private void ended(Parameter p) {
      String kind = kind(p);
      reads.append(
          """
              long %1$sId = next();
              long %1$s = handle(%2$s, %1$sId);
          """
              .formatted(p.name(), kind));
      after.append("    handles.remove(%s, %sId);\n".formatted(kind, p.name()));
    }

    private void made(Parameter p) {
      reads.append(
          """
              long %1$sId = next();
              long %1$s = scratch(8);
          """
              .formatted(p.name()));
      after.append(
          """
              if (result == 0) {
                handles.put(%2$s, %1$sId, peek(%1$s));
              }
          """
              .formatted(p.name(), kind(p)));
    }

    private void given(Parameter p) {
      String n = p.name();
      reads.append("    long %s = block();\n".formatted(n));
      if (!p.isArray()) {
        reads.append("    expect(\"%s\", blockBytes, %d);\n".formatted(n, p.type().size()));
        return;
      }
      reads.append("    long %sBytes = blockBytes;\n".formatted(n));
      lengths.append("    expect(\"%1$s\", %1$sBytes, %2$s);\n".formatted(n, bytes(p)));
      if (p.type().isHandle()) {
        reads.append("    resolve(%s, %s, blockBytes);\n".formatted(kind(p), n));
      }
    }

    private void result(Parameter p) {
      String n = p.name();
      reads.append("    boolean %sWanted = next() != 0;\n".formatted(n));
      results.append("    long %1$s = result(%1$sWanted, %2$s);\n".formatted(n, bytes(p)));
      if (p.type().isHandle()) {
        String count = p.isArray() ? p.count() : "1";
        after.append("    intern(%s, %s, %s, result);\n".formatted(kind(p), n, count));
      }
    }

    private String callAndReturn() {
      String call = function.session() ? SessionCallsGenerator.call(function) : deviceCall();
      return after.isEmpty()
          ? "    return " + call + ";\n"
          : "    int result = " + call + ";\n" + after + "    return result;\n";
    }

    private String deviceCall() {
      return "this.device.%s(%s)"
          .formatted(
              function.symbol(),
              function.parameters().stream()
                  .filter(p -> !p.isBulk())
                  .map(Parameter::name)
                  .collect(Collectors.joining(", ")));
    }
  }

  private static String kind(Parameter p) {
    return "HandleKind." + p.type().handleConstant();
  }

  /**
   * Returns the bytes of a parameter. The product is checked, because the client chooses the count.
   */
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

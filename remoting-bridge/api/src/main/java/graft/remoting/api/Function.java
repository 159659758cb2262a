package graft.remoting.api;

import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * One function of the description.
 *
 * @param line its line in the description, for messages
 * @param group the device interface that declares it
 * @param serviceClass who answers it
 * @param custom whether the client's stub is written by hand
 * @param traits what the client has to know of it besides
 * @param calls the calls of the server's session that it belongs to, if the session executes it
 *     instead of the device
 * @param symbol the exported C symbol
 * @param parameters in order
 * @param target what an alias stands for
 * @param lookup the name and version under which {@code cuGetProcAddress} finds it
 * @param perThread its per-thread-default-stream variant
 */
public record Function(
    int line,
    String group,
    ServiceClass serviceClass,
    boolean custom,
    Set<Trait> traits,
    Optional<String> calls,
    String symbol,
    List<Parameter> parameters,
    Optional<String> target,
    Optional<Lookup> lookup,
    Optional<PerThread> perThread) {
  /** Who answers a function, and whether the program waits for it. */
  public enum ServiceClass {
    /** The client, from its own state. */
    LOCAL,
    /** The server; not waited for. */
    ASYNC,
    /** The server; the program waits for the reply. */
    SYNC,
    /** Nobody: the exported stub answers CUDA_ERROR_NOT_SUPPORTED. */
    NONE,
    /** An exported name without a function. */
    DATA,
    /** An older name of a function with the same interface. */
    ALIAS
  }

  /** What the client has to know of a call that travels; {@code graft_function_traits} in C. */
  public enum Trait {
    /**
     * Queues kernels, which may use any memory: {@code launches(kernels)}, {@code launches(graph)}.
     */
    LAUNCHES(1, " launches("),
    /** Queues a graph. */
    LAUNCHES_GRAPH(2, " launches(graph)"),
    /** Is carried out when the context has failed, too. */
    OUTLIVES_FAULT(4, " outlives-fault");

    /** Its bit in C. */
    final int bit;

    private final String flag;

    Trait(int bit, String flag) {
      this.bit = bit;
      this.flag = flag;
    }

    static Set<Trait> of(String flags) {
      Set<Trait> traits = EnumSet.noneOf(Trait.class);
      for (Trait trait : values()) {
        if (flags.contains(trait.flag)) {
          traits.add(trait);
        }
      }
      return traits;
    }
  }

  /**
   * Name without suffix, and the lowest CUDA version (1000 * major + 10 * minor) that gets this
   * variant.
   */
  public record Lookup(String name, int version) {}

  /** Suffix ({@code ptsz} or {@code ptds}) and the lowest CUDA version that knows the variant. */
  public record PerThread(String suffix, int version) {}

  /** The group of functions that {@code CudaDevice} declares itself. */
  static final String NO_GROUP = "CudaDevice";

  /** True if the function travels: it has a wire id. */
  boolean onWire() {
    return serviceClass == ServiceClass.ASYNC || serviceClass == ServiceClass.SYNC;
  }

  /** Whether the server's session executes it, instead of the device. */
  boolean session() {
    return calls.isPresent();
  }

  /** True for Graft's own calls, which no program sees. */
  boolean internal() {
    return symbol.startsWith("graft");
  }

  /** True if the device has the function: it is part of {@code CudaDevice}. */
  boolean onDevice() {
    return !internal()
        && serviceClass != ServiceClass.DATA
        && serviceClass != ServiceClass.ALIAS
        && (serviceClass != ServiceClass.NONE || !parameters.isEmpty());
  }

  boolean waits() {
    return serviceClass == ServiceClass.SYNC;
  }

  Optional<Parameter> bulk() {
    return parameters.stream().filter(Parameter::isBulk).findFirst();
  }

  /** The parameters as C declares them, {@code void} if there are none. */
  String declareC() {
    return parameters.isEmpty()
        ? "void"
        : parameters.stream()
            .map(p -> p.isBulk() ? "const void *" + p.name() : p.declareC())
            .collect(Collectors.joining(", "));
  }

  /** What both ends must agree on: class, symbol and parameters. */
  String wireSignature() {
    return serviceClass
        + " "
        + symbol
        + parameters.stream()
            .map(p -> p.direction() + " " + p.type().name() + "[" + p.count() + "]")
            .collect(Collectors.joining(",", "(", ")"));
  }
}

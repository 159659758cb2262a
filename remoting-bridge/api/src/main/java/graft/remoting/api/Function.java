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
 * @param traits what the client has to know about it
 * @param calls the group of session calls that it belongs to, if the session executes it instead of
 *     the device
 * @param symbol the exported C symbol
 * @param parameters the parameters in order
 * @param target the target of an alias
 * @param lookup the name and version under which {@code cuGetProcAddress} finds it
 * @param perThread its variant for the per-thread default stream
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
  /** Who answers a function, and whether the program waits for the answer. */
  public enum ServiceClass {
    /** The client answers from its own state. */
    LOCAL,
    /** The server executes it; the program does not wait. */
    ASYNC,
    /** The server executes it; the program waits for the reply. */
    SYNC,
    /** Nobody: the exported stub returns CUDA_ERROR_NOT_SUPPORTED. */
    NONE,
    /** An exported name without a function. */
    DATA,
    /** An older name of a function with the same interface. */
    ALIAS
  }

  /** What the client has to know of a call that travels; {@code graft_function_traits} in C. */
  public enum Trait {
    /** Queues kernels, which may use any memory. */
    LAUNCHES(1, " launches"),
    /** Is carried out when the context has failed, too. */
    OUTLIVES_FAULT(2, " outlives-fault"),
    /** Queues a copy or a fill, which uses the GPU as a kernel does. */
    WORKS(4, " works"),
    /** Has a meaning only in a context: without a current one the client refuses it. */
    IN_CONTEXT(8, " in-context"),
    /** May be forbidden by a capture, as what CUDA calls potentially unsafe. */
    UNCAPTURED(16, " uncaptured");

    private final int bit;
    private final String flag;

    Trait(int bit, String flag) {
      this.bit = bit;
      this.flag = flag;
    }

    /** The trait's bit in the client's table. */
    int bit() {
      return bit;
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
   * A name without suffix, and the lowest CUDA version (1000 * major + 10 * minor) that gets this
   * variant.
   */
  public record Lookup(String name, int version) {}

  /** A suffix ({@code ptsz} or {@code ptds}), and the lowest CUDA version that has the variant. */
  public record PerThread(String suffix, int version) {}

  /** The group of functions that {@code CudaDevice} declares itself. */
  static final String NO_GROUP = "CudaDevice";

  /** Returns whether the function is sent, and so has a wire id. */
  boolean onWire() {
    return serviceClass == ServiceClass.ASYNC || serviceClass == ServiceClass.SYNC;
  }

  /** Returns whether the server's session executes it instead of the device. */
  boolean session() {
    return calls.isPresent();
  }

  /** Returns whether it is one of Graft's own calls, which programs do not see. */
  boolean internal() {
    return symbol.startsWith("graft");
  }

  /** Returns whether the device has the function, and so {@code CudaDevice} declares it. */
  boolean onDevice() {
    return !internal()
        && serviceClass != ServiceClass.DATA
        && serviceClass != ServiceClass.ALIAS
        && (serviceClass != ServiceClass.NONE || !parameters.isEmpty());
  }

  /** Returns whether it queues work for the GPU, which has to wait for the session's turn. */
  boolean works() {
    return traits.contains(Trait.WORKS) || traits.contains(Trait.LAUNCHES);
  }

  boolean waits() {
    return serviceClass == ServiceClass.SYNC;
  }

  Optional<Parameter> bulk() {
    return parameters.stream().filter(Parameter::isBulk).findFirst();
  }

  /** Returns the parameter behind the bulk data, which is always its length. */
  Parameter bulkLength() {
    for (int i = 0; i < parameters.size() - 1; i++) {
      if (parameters.get(i).isBulk()) {
        return parameters.get(i + 1);
      }
    }
    throw new IllegalStateException(symbol + ": bulk data without a length after it");
  }

  /** Returns the parameters as C declares them, {@code void} if there are none. */
  String declareC() {
    return parameters.isEmpty()
        ? "void"
        : parameters.stream()
            .map(p -> p.isBulk() ? "const void *" + p.name() : p.declareC())
            .collect(Collectors.joining(", "));
  }

  /** Returns what both ends must agree on: class, symbol and parameters. */
  String wireSignature() {
    return serviceClass
        + " "
        + symbol
        + parameters.stream()
            .map(p -> p.direction() + " " + p.type().name() + "[" + p.count() + "]")
            .collect(Collectors.joining(",", "(", ")"));
  }
}

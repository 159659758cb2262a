package graft.deployment.step;

/**
 * What a step belongs to: one adapter, one network, one server, one guest. Steps of a lane are done
 * in order; lanes of one phase side by side.
 */
public record Lane(Phase phase, String name) {
  /** Phases come one after the other, and are undone the other way round. */
  public enum Phase {
    MEMORY("memory"),
    MODULE("module"),
    ADAPTER("adapter"),
    NETWORK("network"),
    SERVER("server"),
    GUEST("guest"),
    BOOT("boot");

    private final String id;

    Phase(String id) {
      this.id = id;
    }

    /** What it is called in the ids of steps, which journals keep: it stays as it is. */
    public String id() {
      return id;
    }
  }

  /** The huge pages of one NUMA node. */
  public static Lane memory(String name) {
    return new Lane(Phase.MEMORY, name);
  }

  /** A module of the kernel. */
  public static Lane module(String name) {
    return new Lane(Phase.MODULE, name);
  }

  /** A physical function and its virtual ones. */
  public static Lane adapter(String name) {
    return new Lane(Phase.ADAPTER, name);
  }

  /** What happens when the host boots. */
  public static Lane boot() {
    return new Lane(Phase.BOOT, "host");
  }

  public static Lane network(String name) {
    return new Lane(Phase.NETWORK, name);
  }

  public static Lane server(String gpu) {
    return new Lane(Phase.SERVER, gpu);
  }

  public static Lane guest(String name) {
    return new Lane(Phase.GUEST, name);
  }

  /** For people: {@code guest alice}. */
  @Override
  public String toString() {
    return switch (phase) {
      case MEMORY -> "memory " + name;
      case MODULE -> "module " + name;
      case ADAPTER -> "adapter " + name;
      case BOOT -> "boot of the host";
      case NETWORK -> "network " + name;
      case SERVER -> "GPU " + name;
      case GUEST -> "guest " + name;
    };
  }
}

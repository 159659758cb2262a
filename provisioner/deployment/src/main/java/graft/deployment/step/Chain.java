package graft.deployment.step;

/**
 * The steps of one adapter, network, server or guest. Steps of a chain are done in order, chains of
 * one phase in parallel.
 */
public record Chain(Phase phase, String name) {
  /** Phases are done one after the other, and undone in reverse order. */
  public enum Phase {
    MEMORY("memory"),
    MODULE("module"),
    ADAPTER("adapter"),
    NETWORK("network"),
    USER("user"),
    SERVER("server"),
    GUEST("guest"),
    BOOT("boot");

    private final String id;

    Phase(String id) {
      this.id = id;
    }

    /** Its name in the ids of steps. Journals keep these ids, so that it never changes. */
    public String id() {
      return id;
    }
  }

  /** The huge pages of one NUMA node. */
  public static Chain memory(String name) {
    return new Chain(Phase.MEMORY, name);
  }

  /** A module of the kernel. */
  public static Chain module(String name) {
    return new Chain(Phase.MODULE, name);
  }

  /** A physical function and its virtual ones. */
  public static Chain adapter(String name) {
    return new Chain(Phase.ADAPTER, name);
  }

  /** The steps for the boot of the host. */
  public static Chain boot() {
    return new Chain(Phase.BOOT, "host");
  }

  public static Chain network(String name) {
    return new Chain(Phase.NETWORK, name);
  }

  /** A user of the host. */
  public static Chain user(String name) {
    return new Chain(Phase.USER, name);
  }

  public static Chain server(String gpu) {
    return new Chain(Phase.SERVER, gpu);
  }

  public static Chain guest(String name) {
    return new Chain(Phase.GUEST, name);
  }

  /** For display: {@code guest alice}. */
  @Override
  public String toString() {
    return switch (phase) {
      case MEMORY -> "memory " + name;
      case MODULE -> "module " + name;
      case ADAPTER -> "adapter " + name;
      case BOOT -> "boot of the host";
      case NETWORK -> "network " + name;
      case USER -> "user " + name;
      case SERVER -> "GPU " + name;
      case GUEST -> "guest " + name;
    };
  }
}

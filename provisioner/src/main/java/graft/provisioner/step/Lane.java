package graft.provisioner.step;

/**
 * What a step belongs to: one network, one server, one guest. Steps of a lane are done in order;
 * lanes of one phase side by side.
 */
public record Lane(Phase phase, String name) {
  /** Phases come one after the other, and are undone the other way round. */
  public enum Phase {
    NETWORK,
    SERVER,
    GUEST
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
      case NETWORK -> "network " + name;
      case SERVER -> "GPU " + name;
      case GUEST -> "guest " + name;
    };
  }
}

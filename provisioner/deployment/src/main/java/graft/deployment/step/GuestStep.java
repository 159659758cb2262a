package graft.deployment.step;

/** A step of one guest's chain. */
public interface GuestStep extends Step {
  /** The guest's name. */
  String guest();

  @Override
  default Chain chain() {
    return Chain.guest(guest());
  }
}

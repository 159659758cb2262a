package graft.deployment.step;

/** A step of one guest's lane. */
public interface GuestStep extends Step {
  /** The guest's name. */
  String guest();

  @Override
  default Lane lane() {
    return Lane.guest(guest());
  }
}

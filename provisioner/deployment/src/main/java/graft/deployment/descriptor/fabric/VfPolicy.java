package graft.deployment.descriptor.fabric;

/** Whether a virtual function's port is up: as the physical one is ({@code auto}), or fixed. */
public enum VfPolicy {
  AUTO,
  UP,
  DOWN
}

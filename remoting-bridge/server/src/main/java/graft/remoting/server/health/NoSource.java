package graft.remoting.server.health;

import java.util.List;

/** A machine without GPUs. */
enum NoSource implements HealthSource {
  INSTANCE;

  @Override
  public List<Gpu> gpus() {
    return List.of();
  }

  @Override
  public String driver() {
    return "";
  }

  @Override
  public Reading read(Gpu gpu) {
    return Reading.LOST;
  }

  @Override
  public List<XidEvent> awaitXids() {
    return List.of();
  }

  @Override
  public void close() {
    // holds nothing
  }
}

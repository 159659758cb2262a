package graft.remoting.server.backend;

import graft.remoting.server.connection.Channel;
import graft.remoting.server.control.DeviceSpec;
import graft.remoting.server.session.RecordHandler;
import graft.remoting.server.session.SessionTerms;
import graft.remoting.server.system.ServerException;
import java.util.function.BooleanSupplier;

/**
 * A kind of device that sessions can have, found by {@link java.util.ServiceLoader} and its {@link
 * #kind}. Only the worker's process loads it.
 */
public interface Backend {
  /** Returns the kind that {@link DeviceSpec} names: {@code software}, {@code cuda}. */
  String kind();

  /**
   * Opens the device before any session, including what takes time, such as creating a context.
   *
   * @param makesContext whether the first GPU gets its primary context at once
   * @return a description of the device, for the log
   * @throws ServerException if there is no device, with the reason and what to do
   */
  String open(boolean makesContext) throws ServerException;

  /**
   * Returns the opened device as NVML names GPUs: {@code GPU-} and 36 characters; empty if it has
   * several GPUs, or no name.
   */
  default String uuid() {
    return "";
  }

  /**
   * Runs the warm-up until a client connects.
   *
   * @param spinMicros how long a session will poll, in microseconds
   * @param goOn returns false as soon as a client has connected
   */
  default void warmUp(int spinMicros, BooleanSupplier goOn) {}

  /** Called before the first connection of a session over UCX is opened. */
  default void prepareUcx() {}

  /**
   * Called when that connection is open.
   *
   * @param overAdapter whether the connection uses an InfiniBand or RoCE adapter
   */
  default void connectedByUcx(boolean overAdapter) {}

  /** Begins the worker's one session. */
  RecordHandler begin(Channel channel, SessionTerms terms) throws ServerException;
}

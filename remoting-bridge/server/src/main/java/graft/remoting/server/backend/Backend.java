package graft.remoting.server.backend;

import graft.remoting.server.connection.Channel;
import graft.remoting.server.control.DeviceSpec;
import graft.remoting.server.session.RecordHandler;
import graft.remoting.server.session.SessionTerms;
import graft.remoting.server.system.ServerException;
import java.util.function.BooleanSupplier;

/**
 * A kind of device that sessions can have, found with {@link java.util.ServiceLoader} by its {@link
 * #kind}. Lives in the worker's process only.
 */
public interface Backend {
  /** The kind by which {@link DeviceSpec} names it: {@code software}, {@code cuda}. */
  String kind();

  /**
   * Opens the device ahead of any session, including what costs time there, such as a context.
   *
   * @return what was opened, for the log
   * @throws ServerException when there is none, with the reason and what to do
   */
  String open() throws ServerException;

  /**
   * Uses the time until a client comes to get faster.
   *
   * @param spinMicros how long a session will poll, in microseconds
   * @param goOn false as soon as a client is there
   */
  default void warmUp(int spinMicros, BooleanSupplier goOn) {}

  /** The session goes over UCX: called before its first connection. */
  default void prepareUcx() {}

  /**
   * That connection has come about.
   *
   * @param overAdapter whether it goes over an InfiniBand or RoCE adapter
   */
  default void connectedByUcx(boolean overAdapter) {}

  /** Begins the worker's one session. */
  RecordHandler begin(Channel channel, SessionTerms terms) throws ServerException;
}

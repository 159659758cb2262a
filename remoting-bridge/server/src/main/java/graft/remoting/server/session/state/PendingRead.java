package graft.remoting.server.session.state;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * A part of a copy to the client that is queued on the device.
 *
 * @param onDataConnections whether its data goes on data connections
 * @param identity what the client knows the read by
 * @param offset where in the read the part belongs
 * @param address the memory that the copy fills
 * @param whole bytes of the read
 * @param event recorded behind the copy
 * @param claimed whether a thread has undertaken to send it
 * @param sent opened when it is sent, or announced on the session's stream
 */
record PendingRead(
    SessionContext context,
    boolean onDataConnections,
    long identity,
    long offset,
    long address,
    long bytes,
    long whole,
    long event,
    AtomicBoolean claimed,
    CountDownLatch sent) {}

package graft.remoting.server.session.state;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * A part of a device-to-host copy that is queued on the device.
 *
 * @param onDataConnections whether its data is sent on data connections
 * @param identity the client's number for the read
 * @param offset the offset of the part in the read
 * @param address the memory that the copy fills
 * @param whole the bytes of the whole read
 * @param event the event that is recorded behind the copy
 * @param queued when it was queued ({@link System#nanoTime})
 * @param claimed set by the thread that sends the part
 * @param sent opened when the part is sent, or announced on the session's stream
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
    long queued,
    AtomicBoolean claimed,
    CountDownLatch sent) {}

package graft.sriov.netlink;

import graft.sriov.HostException;
import graft.sriov.VfSettings;
import graft.sriov.files.WriteHangsException;
import graft.sriov.host.NetInterface;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * The kernel's routing netlink, in the network namespace of this process.
 *
 * <p>The kernel processes a request inside {@code send}, where an adapter's firmware can delay it.
 * Each request therefore runs on a thread of its own, and the caller waits for this thread no
 * longer than the limit.
 */
public final class RtNetlink implements VfLinks {
  private final Duration limit;

  /**
   * Creates an instance.
   *
   * @param limit the time limit for the settings of one interface
   */
  public RtNetlink(Duration limit) {
    this.limit = limit;
  }

  @Override
  public List<VfSettings> read(NetInterface physical) {
    List<VfSettings> result = new ArrayList<>();
    within(
        physical,
        "read",
        () -> {
          try (NetlinkSocket socket = new NetlinkSocket(physical.name())) {
            String tried = "reading the interface's VFs";
            byte[] reply = socket.exchange(tried, VfMessages.get(physical.index(), 1));
            check(socket, tried, reply);
            result.addAll(VfMessages.parse(reply, physical.infiniband()));
          }
        });
    return result;
  }

  @Override
  public void set(NetInterface physical, int vf, VfSettings wanted) {
    within(
        physical,
        "vf " + vf + " " + wanted,
        () -> {
          try (NetlinkSocket socket = new NetlinkSocket(physical.name())) {
            for (byte[] message : VfMessages.set(physical.index(), vf, wanted, 1)) {
              String tried = "setting " + wanted + " for VF " + vf;
              check(socket, tried, socket.exchange(tried, message));
            }
          }
        });
  }

  /** An error message with the number 0 is an acknowledgement. */
  private static void check(NetlinkSocket socket, String tried, byte[] reply) {
    ByteBuffer buffer = ByteBuffer.wrap(reply).order(ByteOrder.nativeOrder());
    if (reply.length >= VfMessages.HEADER + 4
        && buffer.getShort(4) == VfMessages.NLMSG_ERROR
        && buffer.getInt(VfMessages.HEADER) != 0) {
      throw socket.failure(tried, -buffer.getInt(VfMessages.HEADER));
    }
  }

  private void within(NetInterface physical, String what, Runnable work) {
    FutureTask<Boolean> task = new FutureTask<>(work, true);
    Thread thread = new Thread(task, "netlink-" + physical.name());
    thread.setDaemon(true);
    thread.start();
    try {
      task.get(limit.toMillis(), TimeUnit.MILLISECONDS);
    } catch (TimeoutException e) {
      throw new WriteHangsException("netlink " + physical.name(), what, limit, "");
    } catch (ExecutionException e) {
      if (e.getCause() instanceof HostException failure) {
        throw failure;
      }
      throw new HostException(
          "netlink failed: " + e.getCause(), physical.name(), "Report this", e.getCause());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new HostException("interrupted", physical.name(), "Look at the VFs", e);
    }
  }
}

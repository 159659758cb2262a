package graft.deployment.descriptor.gpu;

import graft.common.bind.Default;
import graft.common.bind.Doc;
import graft.common.bind.Range;
import graft.common.values.TimeSpan;
import java.util.List;
import java.util.Optional;

/** The server beside a GPU. */
@Doc("The server beside a GPU.")
public record Server(
    @Range(min = 1, max = 65535) @Doc("Its TCP port; a free one from 7799 to 8798 if absent.")
        Optional<Integer> port,
    @Default("1") @Range(min = 0, max = 64) @Doc("The number of spare workers for new sessions.")
        int spare,
    @Default("true")
        @Doc(
            "Whether a worker has a context on the GPU before it gets a session. Without one, spare"
                + " workers take no memory of the GPU, and sessions start later.")
        boolean spareContext,
    @Doc(
            "The path of NVIDIA's profiling library, libcupti.so.13, on its machine: programs with a"
                + " profiler then learn when their kernels ran, also those of graphs. Without it"
                + " they get the times of events around each piece of work.")
        Optional<LibraryPath> profilerLibrary,
    @Default("true") @Doc("Whether it starts when the host boots, where systemd starts services.")
        boolean autostart,
    @Doc(
            "The ports of its machine that rdma uses: GUIDs, MACs of Ethernet ports, or names such"
                + " as mlx5_0:1. If absent, those of the fabric's only adapter; in a guest, those"
                + " of its own virtual functions.")
        List<PortName> rdmaPorts,
    @Default("{}") @Doc("What its sessions may use.") Limits limits,
    @Doc(
            "The time after which a session ends whose work goes on after its turn while other"
                + " guests use the GPU or wait for it; never if absent, since a kernel may run for"
                + " long. Guests take turns if one of them has a 'class', 'compute' or 'priority'.")
        Optional<TimeSpan> watchdog,
    @Default("auto")
        @Doc(
            "Where its audit events go. file: a file whose size is limited. auto: the audit trail"
                + " of the user that it runs as, or syslog if that user may write no files.")
        AuditTarget audit,
    @Default("true")
        @Doc(
            "Whether its guests see the temperature, power, clocks and PCIe traffic of the whole GPU,"
                + " by which they can tell how much others use it.")
        boolean sensors,
    @Default("true")
        @Doc(
            "Whether it serves metrics for Prometheus, on a Unix socket that only root and its user"
                + " reach.")
        boolean metrics,
    @Default("true")
        @Doc("Whether its log has a line for each session's begin and end, with the guest.")
        boolean sessionLog,
    @Default("false")
        @Doc(
            "Whether it writes an account of each session that has ended, for billing, to"
                + " accounting.jsonl in /var/log/graft/DEPLOYMENT.GPU, or, if it runs as the user of"
                + " apply, in the folder of all state folders. The file stays when the deployment"
                + " is destroyed.")
        boolean accounting) {
  /** What guests of other hosts say of it: nothing but its ports for rdma. */
  public Server elsewhere() {
    return new Server(
        Optional.empty(),
        spare,
        spareContext,
        Optional.empty(),
        autostart,
        rdmaPorts,
        Limits.NONE,
        Optional.empty(),
        AuditTarget.AUTO,
        true,
        true,
        true,
        false);
  }

  /** A copy with this port. */
  public Server at(int given) {
    return new Server(
        Optional.of(given),
        spare,
        spareContext,
        profilerLibrary,
        autostart,
        rdmaPorts,
        limits,
        watchdog,
        audit,
        sensors,
        metrics,
        sessionLog,
        accounting);
  }
}

package graft.sriov.operation;

import graft.common.change.Change;
import graft.common.values.PciAddress;
import graft.sriov.vf.HostAccess;
import java.util.Map;

/**
 * One change of a host's device, within the host's time limits. All methods throw {@link
 * graft.sriov.HostException}, whose message states what was tried, on what and what to do next.
 */
public sealed interface DeviceChange extends Change<HostAccess, HostAccess>
    permits SetVfCount,
        SetAutoprobe,
        ConfigureVf,
        SetUpVf,
        BindDriver,
        SetResetMethod,
        StoreFile,
        CreateMediatedDevice,
        SetNvidiaVgpuType {

  /** The device that is changed; the PF if the change concerns its VFs. */
  PciAddress device();

  @Override
  Map<String, Object> before(HostAccess host);

  @Override
  Map<String, Object> apply(HostAccess host);

  @Override
  void undo(HostAccess host, Map<String, Object> before);

  /** Describes the effect of {@link #undo} in one line. */
  String describeUndo(Map<String, Object> before);
}

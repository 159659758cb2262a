package graft.sriov.operation;

import graft.sriov.HostException;
import graft.sriov.PciAddress;
import graft.sriov.vf.HostAccess;

/** Takes an operation back from what was written down before it. */
public final class Undo {
  private Undo() {}

  /** What {@link #run} will do, in one line. */
  public static String describe(Before before) {
    String device = before.device();
    return switch (before.operation()) {
      case "SetVfCount" -> device + ": back to " + before.number("count") + " VFs as they were";
      case "SetAutoprobe" ->
          device
              + ": driver autoprobe of VFs "
              + (before.number("autoprobe") == 1 ? "on" : "off")
              + " again";
      case "ConfigureVf" ->
          device + ": the settings of VF " + before.number("index") + " as they were";
      case "BindDriver" -> device + ": back to " + before.value("driver").orElse("no driver");
      case "SetResetMethod" ->
          device + ": reset by " + before.value("methods").orElse("nothing") + " again";
      case "StoreFile" ->
          before.value("path").orElse("?")
              + ": "
              + (before.value("content").isPresent() ? "the former content" : "remove");
      case "CreateMediatedDevice" ->
          device + ": mediated device " + before.value("uuid").orElse("?") + " as it was";
      case "SetVgpuType" -> device + ": vGPU of type " + before.number("type") + " again";
      default -> throw unknown(before);
    };
  }

  /**
   * Makes the host as it was. Does nothing where it is so already, so that it can be run again.
   *
   * @throws HostException when that is not possible now: the error says what is in the way
   */
  public static void run(HostAccess host, Before before) {
    PciAddress device = PciAddress.parse(before.device());
    switch (before.operation()) {
      case "SetVfCount" -> SetVfCount.undo(host, device, before);
      case "SetAutoprobe" -> SetAutoprobe.undo(host, device, before);
      case "ConfigureVf" -> ConfigureVf.undo(host, device, before);
      case "BindDriver" -> BindDriver.undo(host, device, before);
      case "SetResetMethod" -> SetResetMethod.undo(host, device, before);
      case "StoreFile" -> StoreFile.undo(host, before);
      case "CreateMediatedDevice" -> CreateMediatedDevice.undo(host, before);
      case "SetVgpuType" -> SetVgpuType.undo(host, device, before);
      default -> throw unknown(before);
    }
  }

  private static HostException unknown(Before before) {
    return new HostException(
        "the journal names an operation that this version does not know: " + before.operation(),
        before.device(),
        "Undo it with the version that wrote the journal");
  }
}

package graft.sriov.plan;

import graft.common.values.PciAddress;
import graft.sriov.host.PciDevice;
import graft.sriov.operation.DeviceChange;
import java.util.List;

/**
 * How a guest gets a device.
 *
 * @param functions what it gets, by address
 * @param operations what has to be done for that, none when all is done
 * @param ledger who has what then
 * @param notes what the operator should know: how it is reset, that MPS runs
 */
public record PassthroughPlan(
    List<PciDevice> functions, List<DeviceChange> operations, Ledger ledger, List<Note> notes) {
  /**
   * What the operator should know of a device.
   *
   * @param text about it, without its address
   */
  public record Note(PciAddress device, String text) {
    @Override
    public String toString() {
      return device + ": " + text;
    }
  }

  public PassthroughPlan {
    functions = List.copyOf(functions);
    operations = List.copyOf(operations);
    notes = List.copyOf(notes);
  }
}

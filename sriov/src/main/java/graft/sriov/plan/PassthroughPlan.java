package graft.sriov.plan;

import graft.common.values.PciAddress;
import graft.sriov.host.PciDevice;
import graft.sriov.operation.DeviceChange;
import java.util.List;

/**
 * The plan by which a guest gets devices.
 *
 * @param functions the functions that the guest gets, by address
 * @param operations the operations, none if nothing is left to do
 * @param ledger the holders of the devices after the operations
 * @param notes notes for the operator, such as how a device is reset, or that MPS runs
 */
public record PassthroughPlan(
    List<PciDevice> functions, List<DeviceChange> operations, Ledger ledger, List<Note> notes) {
  /**
   * A note for the operator about a device.
   *
   * @param text the note, without the device's address
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

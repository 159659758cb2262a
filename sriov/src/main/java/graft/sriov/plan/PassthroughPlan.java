package graft.sriov.plan;

import graft.sriov.host.PciDevice;
import graft.sriov.operation.Operation;
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
    List<PciDevice> functions, List<Operation> operations, Ledger ledger, List<String> notes) {
  public PassthroughPlan {
    functions = List.copyOf(functions);
    operations = List.copyOf(operations);
    notes = List.copyOf(notes);
  }
}

package graft.deployment.fabric;

import graft.deployment.journal.Entry;
import graft.deployment.journal.JournalState;
import graft.deployment.observe.Known;
import graft.deployment.step.Step;
import graft.deployment.step.device.ApplyAtBoot;
import graft.deployment.step.device.AssignsDevice;
import graft.deployment.step.device.AttachDevice;
import graft.deployment.step.device.BindPciDevice;
import graft.deployment.step.device.DeviceStep;
import graft.deployment.step.device.ReserveHugePages;
import graft.deployment.step.device.SetUpFunction;
import graft.deployment.step.machine.AttachToDomain;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** What a journal says of the host's devices. */
public final class JournalKnowledge {
  private JournalKnowledge() {}

  /** The facts for the observer. */
  public static Known of(JournalState journal) {
    if (journal.isEmpty()) {
      return Known.NOTHING;
    }
    List<Known.Function> functions = new ArrayList<>();
    boolean devices = false;
    for (Entry entry : journal.entries().values()) {
      devices |= isOfDevice(entry.step());
      if (entry.isDone() && entry.step() instanceof SetUpFunction set) {
        String boot = String.valueOf(entry.result().get(SetUpFunction.BOOT));
        functions.add(new Known.Function(set.pf(), set.index(), set.settings(), boot));
      }
    }
    return new Known(journal.uri(), devices, functions);
  }

  private static boolean isOfDevice(Step step) {
    return step instanceof DeviceStep
        || step instanceof AssignsDevice
        || step instanceof AttachDevice
        || step instanceof AttachToDomain
        || step instanceof ReserveHugePages
        || step instanceof ApplyAtBoot;
  }

  /** The virtual functions of an adapter that were assigned to a guest, in that order. */
  static List<Integer> functionsOf(
      JournalState journal, String guest, graft.common.values.PciAddress pf) {
    return journal.entries().values().stream()
        .map(Entry::step)
        .filter(AssignsDevice.class::isInstance)
        .map(AssignsDevice.class::cast)
        .filter(take -> take.guest().equals(guest))
        .map(AssignsDevice::function)
        .flatMap(Optional::stream)
        .filter(function -> function.pf().equals(pf))
        .map(BindPciDevice.Function::index)
        .toList();
  }
}

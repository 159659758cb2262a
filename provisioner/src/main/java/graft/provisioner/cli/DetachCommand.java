package graft.provisioner.cli;

import graft.provisioner.GraftException;
import graft.provisioner.fabric.GivenDevice;
import graft.provisioner.journal.JournalState;
import graft.provisioner.plan.Action;
import graft.provisioner.plan.Plan;
import graft.provisioner.state.StateFolder;
import graft.provisioner.step.Lane;
import graft.provisioner.step.Step;
import graft.provisioner.step.device.AssignsDevice;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** {@code graft detach}: takes a device of the host from a guest. */
@Command(
    name = "detach",
    mixinStandardHelpOptions = true,
    header = "Takes a device of the host from a guest, while it runs.",
    description = {
      "",
      "Unplugs the device from the guest and gives it back to the driver that it had. The descriptor"
          + " stays as it is: if it gives the device to the guest, the next graft apply does so"
          + " again.",
      ""
    },
    footerHeading = "%nExamples:%n",
    footer = {
      "  graft detach lab.yaml alice 0000:65:00.0    a PCI device; of a GPU all functions",
      "  graft detach lab alice ib0:2                virtual function 2 of the adapter ib0"
    })
final class DetachCommand implements Callable<Integer> {
  @Mixin Output output;
  @Mixin GivenToGuest given;

  @Override
  public Integer call() throws Exception {
    StateFolder state = given.target.state();
    GivenDevice device = given.device();
    if (!given.only) {
      return new TakeBack(state, output, "detach").run(journal -> steps(device, journal));
    }
    JournalState journal = Target.journal(state);
    List<Action> actions =
        steps(device, journal).stream()
            .map(step -> new Action(Action.Kind.UNDO, step, ""))
            .toList();
    Plan plan = new Plan(state.setup().text(), journal.uri(), actions, List.of(), List.of());
    output.say(plan.toText().stripTrailing());
    output.result(plan.toTree());
    return ExitCode.OK;
  }

  private List<Step> steps(GivenDevice device, JournalState journal) {
    String guest = given.guest;
    GuestReach.of(journal, guest); // or says which guests there are
    List<Step> steps = device.stepsOf(guest, journal);
    if (steps.isEmpty()) {
      List<String> has =
          journal.entries().values().stream()
              .map(entry -> entry.step())
              .filter(step -> step.lane().equals(Lane.guest(guest)))
              .filter(AssignsDevice.class::isInstance)
              .map(step -> ((AssignsDevice) step).assigned())
              .toList();
      throw new GraftException(
          "the guest '" + guest + "' was not given " + given.device,
          has.isEmpty() ? "it has no device of the host" : "it has " + String.join(", ", has));
    }
    return steps;
  }
}

package graft.deployment.plan;

import graft.deployment.descriptor.guest.Guest;
import graft.deployment.step.Step;
import graft.deployment.step.machine.InstallOnMachine;
import graft.deployment.step.machine.VerifyOnMachine;
import graft.guests.connection.SshLogin;
import java.util.ArrayList;
import java.util.List;

/** The steps that give a machine that exists already its access to a GPU. */
final class MachineSteps {
  private final PlanInput input;
  private final ServerSteps servers;
  private final Guest guest;

  MachineSteps(PlanInput input, ServerSteps servers, Guest guest) {
    this.input = input;
    this.servers = servers;
    this.guest = guest;
  }

  List<Step> steps() {
    String name = guest.name().text();
    SshLogin login = guest.existing().orElseThrow().login(input.file()::resolve);
    List<Step> steps = new ArrayList<>(GuestSteps.access(input, servers, guest));
    steps.add(
        new InstallOnMachine(
            name,
            input.snapshot().machines().get(name).owner(),
            login,
            new GuestBundles(input, servers, guest).payload(),
            guest.ready().timeout()));
    if (guest.ready().verify()) {
      String server = servers.forGuest(guest, guest.vgpu().orElseThrow().gpu()).toString();
      steps.add(new VerifyOnMachine(name, login, server, guest.ready().timeout()));
    }
    return steps;
  }
}

package graft.deployment.plan;

import graft.deployment.descriptor.guest.Guest;
import graft.deployment.descriptor.guest.Kernel;
import graft.deployment.descriptor.guest.Nic;
import graft.deployment.descriptor.guest.Ready;
import graft.deployment.descriptor.guest.Setup;
import graft.deployment.descriptor.guest.Ssh;
import graft.deployment.observe.ConnectionFacts;
import graft.deployment.observe.InstallFacts;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The install method of a guest: the one that the descriptor names, or for {@code auto} the best
 * that works. A running guest keeps the method that it was set up by as long as that works: a
 * program that is installed on the host meanwhile is no reason to restart a guest.
 *
 * @param method never {@code auto}
 * @param why the reason, for display; empty if the descriptor names the method
 */
record InstallMethodChoice(Setup.Method method, String why) {
  private static final List<String> SSH_PROGRAMS = List.of("ansible-playbook", "ssh");

  static InstallMethodChoice of(PlanInput input, Guest guest) {
    if (guest.existing().isPresent()) {
      return new InstallMethodChoice(Setup.Method.SSH, "");
    }
    if (guest.setup().way() != Setup.Method.AUTO) {
      return new InstallMethodChoice(guest.setup().way(), "");
    }
    if (guest.root().isPresent()) {
      return new InstallMethodChoice(
          new GuestBundles(input, new ServerSteps(input), guest).any()
              ? Setup.Method.AGENT
              : Setup.Method.NONE,
          "");
    }
    return guest.image().isPresent() ? ofImage(input, guest) : ofKernel(input, guest);
  }

  private static InstallMethodChoice ofKernel(PlanInput input, Guest guest) {
    boolean agent = asksAgent(input, guest);
    GuestBundles bundles = new GuestBundles(input, new ServerSteps(input), guest);
    if (guest.kernel().flatMap(Kernel::initramfs).isPresent()) {
      return agent && !bundles.areFilesAlone()
          ? new InstallMethodChoice(
              Setup.Method.AGENT, "an initramfs takes files, and neither packages nor services")
          : new InstallMethodChoice(Setup.Method.INITRAMFS, "it boots an initramfs");
    }
    return agent && bundles.any()
        ? new InstallMethodChoice(Setup.Method.AGENT, "it boots a kernel alone")
        : new InstallMethodChoice(Setup.Method.NONE, "");
  }

  private static InstallMethodChoice ofImage(PlanInput input, Guest guest) {
    InstallFacts facts = input.snapshot().bundles();
    Optional<ConnectionFacts> running = facts.connection(guest.name());
    if (running.isPresent() && new GuestSeed(input, guest).broughtEverything()) {
      return new InstallMethodChoice(
          Setup.Method.SEED,
          running.get().agent()
              ? "it runs and its agent answers, so that changes need no restart"
              : "it was set up by its seed, and its agent does not answer now");
    }
    List<String> obstacles = sshObstacles(facts, guest);
    if (guest.setup().ssh().isEmpty()) {
      return new InstallMethodChoice(
          Setup.Method.SEED,
          asksAgent(input, guest)
              ? "it boots an image; without cloud-init in the image, by its agent"
              : "it boots an image");
    } else if (running.isEmpty()) {
      return obstacles.isEmpty()
          ? new InstallMethodChoice(Setup.Method.SSH, "a login is given, and Ansible is installed")
          : new InstallMethodChoice(Setup.Method.SEED, "a login is given, but " + obstacles.get(0));
    } else if (running.get().agent() && !(obstacles.isEmpty() && running.get().ssh())) {
      String why = obstacles.isEmpty() ? "nothing answers at its SSH port" : obstacles.get(0);
      return new InstallMethodChoice(Setup.Method.AGENT, "its agent answers, and " + why);
    }
    return new InstallMethodChoice(Setup.Method.SSH, "a login is given");
  }

  private static boolean asksAgent(PlanInput input, Guest guest) {
    return guest.ready().when() == Ready.When.AGENT && GuestDomain.hasAgent(input, guest);
  }

  /** Why SSH is not possible, the most important reason first; empty if it is. */
  static List<String> sshObstacles(InstallFacts facts, Guest guest) {
    List<String> obstacles = new ArrayList<>();
    for (String program : SSH_PROGRAMS) {
      if (!facts.programs().contains(program)) {
        obstacles.add(program + " is not on this host");
      }
    }
    boolean reachable = guest.networks().stream().anyMatch(Nic::isOnLibvirtNetwork);
    if (!reachable && guest.setup().ssh().flatMap(Ssh::address).isEmpty()) {
      obstacles.add("it is on no network of libvirt's, so that this host cannot connect to it");
    }
    return obstacles;
  }

  /** For display: {@code the guest 'alice' is set up by its seed: it boots an image}. */
  Optional<String> note(Guest guest) {
    String by =
        switch (method) {
          case SEED -> "its seed";
          case INITRAMFS -> "its initramfs";
          case AGENT -> "its agent";
          case SSH -> "SSH and Ansible";
          case IMAGE -> "libguestfs";
          default -> "";
        };
    return by.isEmpty() || why.isEmpty()
        ? Optional.empty()
        : Optional.of("the guest '" + guest.name() + "' is set up by " + by + ": " + why);
  }
}

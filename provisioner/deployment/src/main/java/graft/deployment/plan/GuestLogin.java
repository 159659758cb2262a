package graft.deployment.plan;

import graft.common.bind.Position;
import graft.common.bind.Problems;
import graft.common.values.UserName;
import graft.deployment.descriptor.guest.Guest;
import graft.deployment.descriptor.guest.Ready;
import graft.deployment.descriptor.guest.Setup;
import graft.deployment.state.SshKeys;
import graft.deployment.step.Step;
import graft.deployment.step.guest.MakeSshKeys;
import graft.guests.connection.SshLogin;
import graft.guests.payload.Payload;
import graft.guests.payload.PayloadFile;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * How Graft gets into a running guest: by its agent, where the hypervisor has a line to one, else
 * by SSH. Then Graft makes the keys itself, unless the descriptor says how to log in.
 */
final class GuestLogin {
  /** Where an SSH server looks for the keys that may log in as root. */
  private static final String AUTHORIZED = "/root/.ssh/authorized_keys";

  /** Where a guest that boots an initramfs finds the key of its SSH server. */
  private static final String HOST_KEY = "/etc/graft/ssh-host-key";

  private static final int SSH_PORT = 22;

  private final PlanInput input;
  private final Guest guest;
  private final Setup.Way way;

  GuestLogin(PlanInput input, Guest guest) {
    this.input = input;
    this.guest = guest;
    this.way = WayChoice.of(input, guest).way();
  }

  private boolean byAgent() {
    return way != Setup.Way.SSH && GuestDomain.hasAgent(input, guest);
  }

  /** Whether keys of Graft's own get into the guest before it starts. */
  private boolean byOwnKeys() {
    boolean brought = way == Setup.Way.SEED || way == Setup.Way.INITRAMFS || way == Setup.Way.IMAGE;
    return !byAgent() && guest.setup().ssh().isEmpty() && brought;
  }

  private SshKeys keys() {
    return input.layout().state().sshKeys(guest.name());
  }

  /** How to log in; absent where the agent is asked. */
  Optional<SshLogin> ssh() {
    if (byAgent()) {
      return Optional.empty();
    }
    SshLogin login = new GuestPayload(input, guest).ssh(UserName.ROOT);
    if (!byOwnKeys()) {
      return Optional.of(login);
    }
    boolean knownBefore = way == Setup.Way.INITRAMFS;
    Path knownHosts = knownBefore ? keys().knownHosts() : login.knownHosts();
    return Optional.of(
        new SshLogin(
            UserName.ROOT, Optional.empty(), SSH_PORT, Optional.of(keys().key()), knownHosts));
  }

  /** The steps that come before all others that need it. */
  List<Step> steps() {
    return byOwnKeys() ? List.of(new MakeSshKeys(guest.name().text(), keys().folder())) : List.of();
  }

  /** A public key that the guest's cloud-init is to let in. */
  Optional<Path> seedKey() {
    return byOwnKeys() && way == Setup.Way.SEED
        ? Optional.of(keys().publicHalf(keys().key()))
        : Optional.empty();
  }

  /** The payload with the files that let Graft in. */
  Payload with(Payload payload) {
    if (!byOwnKeys() || way == Setup.Way.SEED) {
      return payload;
    }
    List<PayloadFile> files = new ArrayList<>(payload.files());
    files.add(PayloadFile.secret(keys().publicHalf(keys().key()), AUTHORIZED, 0600));
    if (way == Setup.Way.INITRAMFS) {
      files.add(PayloadFile.secret(keys().hostKey(), HOST_KEY, 0600));
    }
    return new Payload(
        payload.hostName(), files, payload.packages(), payload.environment(), payload.services());
  }

  /** Notes a guest that nobody will reach. */
  void check(Position at, Problems problems) {
    if (byAgent() || guest.ready().when() != Ready.When.AGENT) {
      return;
    }
    String hypervisor = input.hypervisor().name();
    if (way == Setup.Way.AGENT) {
      problems.add(
          at, "guests of " + hypervisor + " have no agent", "write setup: {way: ssh, ssh: {...}}");
    } else if (way == Setup.Way.NONE && guest.setup().ssh().isEmpty()) {
      problems.add(
          at,
          "nobody can ask the guest whether it is ready: guests of "
              + hypervisor
              + " have no agent",
          "write setup: {ssh: {...}}, or ready: {when: console, text: ...}, or ready: {when: off}");
    }
  }
}

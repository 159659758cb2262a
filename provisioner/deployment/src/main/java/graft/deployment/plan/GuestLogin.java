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
  private final Setup.Method method;

  GuestLogin(PlanInput input, Guest guest) {
    this.input = input;
    this.guest = guest;
    this.method = InstallMethodChoice.of(input, guest).method();
  }

  private boolean byAgent() {
    return method != Setup.Method.SSH && GuestDomain.hasAgent(input, guest);
  }

  /** Whether keys of Graft's own get into the guest before it starts. */
  private boolean byOwnKeys() {
    boolean brought =
        method == Setup.Method.SEED
            || method == Setup.Method.INITRAMFS
            || method == Setup.Method.IMAGE;
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
    boolean knownBefore = method == Setup.Method.INITRAMFS;
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
    return byOwnKeys() && method == Setup.Method.SEED
        ? Optional.of(keys().publicHalf(keys().key()))
        : Optional.empty();
  }

  /** The payload with the files that let Graft in. */
  Payload with(Payload payload) {
    if (!byOwnKeys() || method == Setup.Method.SEED) {
      return payload;
    }
    List<PayloadFile> files = new ArrayList<>(payload.files());
    files.add(PayloadFile.secret(keys().publicHalf(keys().key()), AUTHORIZED, 0600));
    if (method == Setup.Method.INITRAMFS) {
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
    if (method == Setup.Method.AGENT) {
      problems.add(
          at, "guests of " + hypervisor + " have no agent", "write setup: {way: ssh, ssh: {...}}");
    } else if (method == Setup.Method.NONE && guest.setup().ssh().isEmpty()) {
      problems.add(
          at,
          "nobody can ask the guest whether it is ready: guests of "
              + hypervisor
              + " have no agent",
          "write setup: {ssh: {...}}, or ready: {when: console, text: ...}, or ready: {when: off}");
    }
  }
}

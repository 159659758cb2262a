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
 * The guest connection of a running guest: its agent, where the hypervisor has a channel to one,
 * else SSH. For SSH Graft makes keys itself, unless the descriptor gives a login.
 */
final class GuestLogin {
  /** The file with the keys that may log in as root. */
  private static final String AUTHORIZED = "/root/.ssh/authorized_keys";

  /** The file of the SSH server's host key in a guest that boots an initramfs. */
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

  /** Whether Graft's own keys are installed in the guest before it starts. */
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

  /** The SSH login; absent where the agent is used. */
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

  /** The steps that make the keys, before all steps that need them. */
  List<Step> steps() {
    return byOwnKeys() ? List.of(new MakeSshKeys(guest.name().text(), keys().folder())) : List.of();
  }

  /** The public key for the guest's cloud-init to authorize. */
  Optional<Path> seedKey() {
    return byOwnKeys() && method == Setup.Method.SEED
        ? Optional.of(keys().publicHalf(keys().key()))
        : Optional.empty();
  }

  /** The payload with the files that authorize Graft's keys. */
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

  /** Reports a guest without any guest connection. */
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
          "there is no connection to ask the guest whether it is ready: guests of "
              + hypervisor
              + " have no agent",
          "write setup: {ssh: {...}}, or ready: {when: console, text: ...}, or ready: {when: off}");
    }
  }
}

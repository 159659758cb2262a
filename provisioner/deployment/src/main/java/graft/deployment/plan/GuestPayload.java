package graft.deployment.plan;

import graft.common.values.UserName;
import graft.deployment.descriptor.guest.Guest;
import graft.deployment.descriptor.guest.Nic;
import graft.deployment.descriptor.guest.Ssh;
import graft.guests.connection.CudaCheck;
import graft.guests.connection.SshLogin;
import graft.guests.payload.Payload;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** What is installed in a guest, independent of the install method. */
public final class GuestPayload {
  private final PlanInput input;
  private final Guest guest;
  private final GuestBundles bundles;

  GuestPayload(PlanInput input, Guest guest) {
    this.input = input;
    this.guest = guest;
    this.bundles = new GuestBundles(input, new ServerSteps(input), guest);
  }

  public String name() {
    return guest.name().text();
  }

  public Payload payload() {
    return bundles.payload();
  }

  /**
   * Whether this host can connect to the guest: not where all cards are on networks that end in its
   * hypervisor, whose addresses, such as 10.0.2.15, an agent reports all the same.
   */
  public boolean isReached() {
    return guest.setup().ssh().flatMap(Ssh::address).isPresent()
        || guest.networks().stream().anyMatch(Nic::isOnLibvirtNetwork);
  }

  /** The commands that check the bundles. */
  public List<String> checks() {
    List<String> checks = new ArrayList<>(bundles.checks().values());
    if (guest.hasVgpu()) {
      checks.add(CudaCheck.PROGRAM + " --no-measure");
    }
    return checks;
  }

  /** The SSH login of the descriptor, else the given user with the caller's own keys. */
  public SshLogin ssh(UserName user) {
    Path disk = input.layout().guest(guest.name()).resolve(GuestSteps.ROOT_DISK);
    Path knownHosts = SshLogin.knownHostsBeside(disk);
    return guest
        .setup()
        .ssh()
        .map(
            ssh ->
                new SshLogin(
                    ssh.user(),
                    ssh.address(),
                    ssh.port(),
                    ssh.key().map(input.file()::resolve),
                    knownHosts))
        .orElseGet(() -> new SshLogin(user, Optional.empty(), 22, Optional.empty(), knownHosts));
  }
}

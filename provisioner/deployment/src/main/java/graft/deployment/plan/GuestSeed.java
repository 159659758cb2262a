package graft.deployment.plan;

import graft.deployment.descriptor.Identities;
import graft.deployment.descriptor.guest.Guest;
import graft.deployment.descriptor.guest.Setup;
import graft.deployment.observe.ConnectionFacts;
import graft.deployment.step.guest.BuildSeed;
import graft.deployment.step.guest.InstallByAgent;
import graft.guests.payload.CloudInitSeed;
import graft.guests.payload.FileStamp;
import graft.guests.payload.Payload;
import java.nio.file.Path;
import java.util.Optional;

/** The seed that a guest boots with, and what its agent installs in addition. */
final class GuestSeed {
  private static final String FILE = "seed.iso";

  private final PlanInput input;
  private final Guest guest;
  private final Path file;

  GuestSeed(PlanInput input, Guest guest) {
    this.input = input;
    this.guest = guest;
    this.file = file(input, guest);
  }

  static Path file(PlanInput input, Guest guest) {
    return input.layout().guest(guest.name()).resolve(FILE);
  }

  /** The seed of an earlier apply. */
  private Optional<BuildSeed> recorded() {
    return input.journal().step("guest/" + guest.name() + "/seed", BuildSeed.class);
  }

  private Optional<InstallByAgent> recordedInstall() {
    return input.journal().step("guest/" + guest.name() + "/install", InstallByAgent.class);
  }

  /** Whether the guest was set up by a seed. */
  boolean broughtEverything() {
    return recorded().map(seed -> !seed.payload().isEmpty()).orElse(false);
  }

  /**
   * The step that makes it. A running guest keeps the seed that it booted with where its agent can
   * install the changes. Any other guest gets a new seed under a name that cloud-init has not seen,
   * even if its content is the same.
   */
  BuildSeed step(Payload payload) {
    Optional<FileStamp> userData = guest.setup().userData().map(this::stamp);
    Optional<BuildSeed> kept =
        recorded()
            .filter(seed -> seed.userData().equals(userData) && seed.target().equals(file))
            .filter(seed -> brought(seed).equals(payload) || agentCanBring());
    return kept.orElseGet(
        () -> {
          String content = payload + " " + userData + " " + input.journal().lastRun();
          String name = guest.name().text();
          String instance =
              Identities.uuid(input.descriptor().deploymentName().text(), name + content)
                  .toString();
          Optional<Path> key = new GuestLogin(input, guest).seedKey();
          return new BuildSeed(name, instance, payload, userData, key, file);
        });
  }

  /**
   * What is installed in the guest if cloud-init used the seed; the agent may have changed it
   * since.
   */
  private Payload brought(BuildSeed seed) {
    return seed.payload().isEmpty()
        ? seed.payload()
        : recordedInstall().map(InstallByAgent::payload).orElse(seed.payload());
  }

  private boolean agentCanBring() {
    return guest.setup().way() == Setup.Method.AUTO
        && input
            .snapshot()
            .bundles()
            .connection(guest.name())
            .map(ConnectionFacts::agent)
            .orElse(false);
  }

  /** The step by which the agent installs whatever cloud-init did not. */
  InstallByAgent install(String uri, String uuid, Payload payload) {
    BuildSeed seed = step(payload);
    boolean booted = recorded().map(seed::equals).orElse(false);
    Optional<InstallByAgent> before = recordedInstall().filter(i -> booted);
    if (before.isPresent() && before.get().payload().equals(payload)) {
      return before.get();
    }
    boolean inSeed = before.isEmpty() && seed.payload().equals(payload);
    return new InstallByAgent(
        uri,
        guest.name().text(),
        uuid,
        payload,
        inSeed ? Optional.of(CloudInitSeed.marker(seed.instance())) : Optional.empty(),
        guest.ready().timeout());
  }

  private FileStamp stamp(String named) {
    Path path = input.file().resolve(named);
    return input.snapshot().file(path).orElseThrow().stamp(path);
  }
}

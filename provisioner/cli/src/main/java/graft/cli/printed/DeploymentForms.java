package graft.cli.printed;

import graft.common.bind.Doc;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** What the commands print that concern whole deployments. */
public final class DeploymentForms {
  private DeploymentForms() {}

  /** {@code graft plan}, {@code attach} and {@code detach}. */
  @Doc("What would be done.")
  public record Planned(
      @Doc("The deployment's name.") String deployment,
      @Doc("The URI of libvirt; empty if none is used.") String uri,
      List<String> warnings,
      @Doc("What was chosen, and why.") List<String> notes,
      List<ChannelOrder> channels,
      @Doc("The GPUs that plan chose.") List<Placement> placements,
      @Doc("The steps, in their order.") List<PlannedStep> actions,
      @Doc("The data that would be deleted.") List<String> deletedData,
      @Doc("What the plan means, by object: guest alice.") Map<String, String> consequences,
      @Doc("The programs that lose their sessions.") List<Programs> programs) {}

  /** Programs that use now what a plan takes away. */
  public record Programs(
      @Doc("guest alice, or server gpu0.") String object,
      @Doc("null if it is not known.") Optional<Integer> sessions,
      @Doc("The same in words, with the reason if it is not known.") String text) {}

  /** A step of a plan. */
  public record PlannedStep(
      @Doc("do or undo.") String action,
      @Doc("Unique in the deployment: guest/alice/define.") String id,
      String type,
      String description,
      @Doc("Empty where it is obvious.") String why,
      @Doc("The step's components, as the journal has them.") Map<String, Object> step) {}

  /** The order in which a guest's client tries its channels. */
  public record ChannelOrder(
      String guest,
      List<String> order,
      @Doc("The order without measurements.") List<String> usual,
      @Doc("What the order stands on.") String by,
      String reason,
      @Doc("What graft verify --channels measured.") Optional<Measured> measured) {}

  /** What was measured of a guest's channels. */
  public record Measured(
      @Doc("The time, as in ISO 8601.") String when,
      List<String> basis,
      List<Map<String, Object>> channels) {}

  /** A GPU that a plan chose. */
  public record Placement(
      String guest,
      @Doc("Which of the guest's vGPUs, from 0.") int number,
      String gpu,
      @Doc("The GPU that it has now, if it has one.") Optional<String> before,
      String why,
      @Doc("Why other GPUs were not chosen, by their names.") Map<String, String> others) {}

  /** {@code graft diff}. */
  public record Differences(
      String deployment, String uri, List<ChangedObject> objects, List<String> deletedData) {}

  /** A guest, a server, a network or a device. */
  public record ChangedObject(
      @Doc("guest alice.") String object,
      @Doc("add, change or remove.") String change,
      String consequence,
      List<ChangedSetting> settings,
      List<String> done,
      List<String> undone,
      List<String> again) {}

  /** A setting with another value. */
  public record ChangedSetting(
      @Doc("Its path: define.xml.") String setting,
      @Doc("null if there was none.") Optional<Object> before,
      @Doc("null if there will be none.") Optional<Object> after) {}

  /** {@code graft apply}. */
  public record Applied(
      String deployment,
      @Doc("How many steps the plan had.") int steps,
      double seconds,
      List<String> warnings) {}

  /** {@code graft undo} and {@code destroy}. */
  public record Undone(
      String deployment,
      int steps,
      @Doc("How many steps of earlier applies were done again.") int restored,
      @Doc("Of the steps that are left.") List<String> errors,
      @Doc("Whether nothing of the deployment is left.") boolean empty) {}

  /** {@code graft status} of one deployment. */
  public record State(
      @Doc("The time of this look; with --watch alone.") Optional<String> at,
      String deployment,
      @Doc("The file that was applied.") String descriptor,
      String uri,
      String state,
      @Doc("Whether a step was interrupted or could not be undone.") boolean partial,
      List<Server> servers,
      List<GuestState> guests,
      List<ChannelOrder> channels,
      @Doc("Why the host cannot be compared.") List<String> obstacles,
      @Doc("What graft apply would do.") List<String> differences,
      @Doc("What is wrong now, and not repaired by graft apply.") List<Finding> findings,
      @Doc("Whether nothing differs and everything answers.") boolean inSync) {}

  /** A server of a deployment. */
  public record Server(
      String gpu,
      String device,
      @Doc("The addresses at which it listens.") List<String> listen,
      @Doc("running or stopped.") String state,
      Optional<Long> pid,
      Optional<Boolean> answers,
      Optional<Integer> sessions,
      @Doc("The guests whose region was too small; if the server answers.")
          Optional<List<SmallRegion>> smallRegions) {}

  /** A guest's region that was too small for what its programs pinned. */
  public record SmallRegion(
      String guest,
      @Doc("The region's size.") long regionBytes,
      @Doc("The most memory at one time for which it had no room, as the guest's clients say.")
          long lackedBytes,
      @Doc("When that was.") String at,
      @Doc("A size that has room for all of it.") long enoughBytes) {}

  /** A guest of a deployment. */
  public record GuestState(
      String name,
      String state,
      @Doc("Since when it is off, if that is known.") Optional<String> since,
      Optional<Double> bootSeconds,
      @Doc("A machine that Graft did not make.") Optional<String> machine,
      @Doc("What the last check of CUDA found.") Optional<Map<String, Object>> cuda,
      Optional<Boolean> answers,
      @Doc("current, or why its client is not.") Optional<String> client) {}

  /** Something that is wrong now. */
  public record Finding(String subject, String what, String fix) {}

  /** {@code graft list}, and {@code status} without a deployment. */
  public record Listed(
      @Doc("The time of this look; with --watch alone.") Optional<String> at,
      List<ListedDeployment> deployments) {}

  /** One of the deployments of this host. */
  public record ListedDeployment(
      String deployment,
      String folder,
      String state,
      String drift,
      @Doc("Why the state is what it is; may be empty.") String why,
      String descriptor,
      boolean descriptorExists,
      List<GuestState> guests,
      List<Server> servers) {}

  /** {@code graft start}, {@code stop} and {@code restart}. */
  public record Powered(
      String deployment, @Doc("What became of each guest and GPU.") Map<String, String> outcomes) {}

  /** {@code graft validate}. */
  public record Validated(boolean valid, List<Problem> problems) {}

  /** A problem of a descriptor. */
  public record Problem(
      String file, int line, int column, String message, @Doc("May be empty.") String hint) {}

  /** {@code graft init}. */
  public record Initialized(
      @Doc("The descriptor that was written.") String file,
      String deployment,
      String gpu,
      String image,
      boolean imageExists,
      @Doc("What to do next.") List<String> next) {}

  /** {@code graft export libvirt-xml}. */
  public record Exported(String deployment, List<ExportedGuest> guests) {}

  /** The domain of a guest. */
  public record ExportedGuest(
      String name,
      @Doc("The domain XML.") String xml,
      @Doc("What other programs have to do themselves.") List<String> leftOut) {}

  /** {@code graft demo}. */
  public record Demo(
      List<Map<String, Object>> guests, double planSeconds, long serverBytes, double seconds) {}
}

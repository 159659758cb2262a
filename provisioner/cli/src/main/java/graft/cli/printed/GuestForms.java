package graft.cli.printed;

import graft.common.bind.Doc;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** What the commands print that concern guests. */
public final class GuestForms {
  private GuestForms() {}

  /** {@code graft console}. */
  public record Console(
      String guest, @Doc("The last lines, without control sequences.") List<String> lines) {}

  /** {@code graft exec}. */
  public record Executed(
      String guest,
      @Doc("The program's; 128 plus the number of the signal that ended it.") int exitCode,
      String stdout,
      String stderr,
      @Doc("Whether the output was too long to be kept.") boolean truncated) {}

  /** {@code graft cp}. */
  public record Copied(
      String from,
      String to,
      long bytes,
      long files,
      @Doc("How many links and special files were left out.") long leftOut) {}

  /** {@code graft rotate}. */
  public record Rotated(
      String deployment, @Doc("The guests with a new token.") List<String> rotated) {}

  /** {@code graft revoke}. */
  public record Revoked(
      String deployment, @Doc("The guests without access.") List<String> revoked) {}

  /** {@code graft forget}. */
  public record Forgotten(String deployment, @Doc("The guest.") String forgotten, String machine) {}

  /** {@code graft adopt}. */
  public record Adopted(String guest, String machine, @Doc("The descriptor.") String text) {}

  /** {@code graft verify}. */
  public record Verified(
      @Doc("What each guest's check found, by the names that graft-verify prints.")
          List<Map<String, Object>> guests) {}

  /** {@code graft verify --channels}. */
  public record MeasuredChannels(
      List<MeasuredGuest> guests,
      @Doc("As in results files, see docs/compare.md.") List<Map<String, Object>> measurements) {}

  /** What was measured of a guest's channels. */
  public record MeasuredGuest(
      String guest,
      List<Map<String, Object>> channels,
      @Doc("Which channel the client takes.") String choice,
      Optional<List<String>> order,
      Optional<String> reason) {}

  /** {@code graft snapshot list}. */
  public record Snapshots(
      String guest,
      String guestState,
      @Doc("What its disks take on the host.") long diskBytes,
      List<Snapshot> snapshots,
      @Doc("What a snapshot does not have.") List<String> notCovered) {}

  /** {@code graft snapshot create}, {@code restore} and {@code delete}. */
  public record ChangedSnapshots(
      String deployment,
      String guest,
      @Doc("The snapshot's name.") String snapshot,
      @Doc("created, restored or deleted.") String done,
      String guestState,
      long diskBytes,
      List<Snapshot> snapshots,
      List<String> notCovered) {}

  /** A snapshot. */
  public record Snapshot(
      String name,
      @Doc("The time, as in ISO 8601.") String taken,
      List<String> disks,
      @Doc("Disks that were made later.") List<String> lacking,
      String state) {}

  /** {@code graft image build} and {@code import}. */
  public record Image(String name, String file, String sha256) {}

  /** {@code graft image list}. */
  public record Images(List<ListedImage> images) {}

  /** One of the images. */
  public record ListedImage(
      String file, long bytes, @Doc("Empty if it is not known.") String sha256) {}

  /** {@code graft image check}. */
  public record CheckedImages(@Doc("ok or changed, by file.") Map<String, String> images) {}
}

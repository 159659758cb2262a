package graft.deployment;

import graft.common.GraftException;
import graft.common.program.ClientFolder;
import graft.deployment.observe.Connections;
import graft.deployment.plan.ChannelBasis;
import graft.deployment.plan.ChannelChoice;
import graft.deployment.state.ChannelMeasurement;
import graft.deployment.state.MeasuredChannels;
import graft.deployment.state.StateFolder;
import graft.guests.connection.CudaCheck;
import graft.guests.connection.GuestConnection;
import graft.guests.image.ImageStore;
import graft.guests.payload.Payload;
import graft.hypervisors.libvirt.calls.HypervisorException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Runs the CUDA program that tests a guest's vGPU, over one channel or over each. */
public final class GuestVerification {
  private static final String LIBRARY = "libcuda.so.1";
  private static final int SHOWN_DIGITS = 12;

  private final Connections connections;
  private final Duration limit;

  /**
   * @param limit the time limit of the program in a guest
   */
  public GuestVerification(Connections connections, Duration limit) {
    this.connections = connections;
    this.limit = limit;
  }

  /** The program's and the client's figures, by name; {@code result} is {@code ok} or the error. */
  public Map<String, Object> verify(AppliedGuest guest) {
    Map<String, Object> row = new LinkedHashMap<>();
    row.put("guest", guest.name());
    try {
      GuestConnection connection = guest.open(connections);
      row.put("server", setting(connection, "server"));
      client(connection, row);
      // The output comes from the guest: it may add names, but not replace those of the host.
      CudaCheck.run(connection, true, limit).values().forEach(row::putIfAbsent);
    } catch (GraftException | HypervisorException e) {
      row.put("result", "failed: " + e.getMessage());
    }
    return row;
  }

  /** A value of the client's configuration. */
  private static String setting(GuestConnection connection, String key) {
    return GuestPrograms.run(connection, "cat", Payload.CLIENT_CONFIGURATION)
        .lines()
        .map(String::strip)
        .filter(line -> line.startsWith(key + " ="))
        .map(line -> line.substring(line.indexOf('=') + 1).strip())
        .findFirst()
        .orElse("unknown");
  }

  /** The version of the guest's client, found by the checksum of its library. */
  private static void client(GuestConnection connection, Map<String, Object> row) {
    String there =
        GuestPrograms.run(connection, "sha256sum", Payload.CLIENT_FOLDER + "/" + LIBRARY)
            .replaceFirst("\\s.*\\R?", "");
    Path ours = ClientFolder.path(System.getenv()).resolve(LIBRARY);
    row.put("client", there.substring(0, Math.min(SHOWN_DIGITS, there.length())));
    row.put("clientIsCurrent", Files.isReadable(ours) && there.equals(ImageStore.sha256(ours)));
  }

  /**
   * What was measured of each channel of a guest.
   *
   * @param rows one for each channel, as {@link ChannelProbe#rows} has them
   * @param measured the measurements, checked
   * @param choice a sentence: which channel the client uses
   * @param order the order that {@code auto} chooses; absent if the client is not Graft's
   */
  public record Channels(
      List<Map<String, Object>> rows,
      ChannelMeasurement measured,
      String choice,
      Optional<ChannelChoice> order) {
    public boolean allWork() {
      return ChannelProbe.allWork(rows);
    }
  }

  /** Measures each channel of a guest, and keeps the figures in the deployment's state. */
  public Channels measure(AppliedGuest guest, StateFolder state, String descriptor) {
    GuestConnection connection = guest.open(connections);
    List<Map<String, Object>> rows =
        new ChannelProbe(words -> connection.run(words, new byte[0], limit).said()).rows();
    ChannelMeasurement measured =
        ChannelProbe.measurement(rows, ChannelBasis.of(guest.steps()), Instant.now());
    new MeasuredChannels(state).keep(guest.name(), measured);
    Optional<ChannelChoice> order =
        ChannelChoice.of(
            state.deployment().text(), guest.name(), guest.steps(), Optional.of(measured));
    return new Channels(rows, measured, ChannelProbe.choice(rows, order, descriptor), order);
  }
}

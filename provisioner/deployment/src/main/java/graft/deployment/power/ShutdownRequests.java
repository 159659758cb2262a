package graft.deployment.power;

import graft.common.GraftException;
import graft.guests.connection.ContainerConnection;
import graft.guests.connection.Ended;
import graft.guests.connection.GuestConnection;
import graft.guests.connection.GuestConnectionException;
import graft.hypervisors.libvirt.Guest;
import graft.hypervisors.libvirt.calls.HypervisorException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** The requests to one guest to shut down, and what became of the last one. */
public final class ShutdownRequests {
  /** Guests ignore the request while they boot. */
  public static final Duration ASK_AGAIN = Duration.ofSeconds(10);

  /**
   * Without {@code -n} poweroff(8) begins with sync(2), which in a container waits until the host
   * has written the data of all of its programs. On a host with much to write that takes longer
   * than {@link #ASK_AGAIN}, so that poweroff would be ended before it has told init. Nothing is
   * lost: the host keeps what the container wrote. A poweroff that does not know the option is
   * called without it.
   */
  static final List<String> POWER_OFF = List.of("/bin/sh", "-c", "poweroff -n || poweroff");

  /** The exit code of a program that a signal ended, as init does with all when it shuts down. */
  private static final int SIGNALLED = 128;

  private final Guest guest;
  private final String name;
  private int requests;
  private boolean ended;
  private Optional<String> failure = Optional.empty();

  /**
   * Requests to a guest that runs.
   *
   * @param name the guest's name in the descriptor, for messages
   */
  public ShutdownRequests(String name, Guest guest) {
    this.name = name;
    this.guest = guest;
  }

  /** Whether the guest has not shut down yet. */
  public boolean isOn() {
    return guest.state().isActive();
  }

  /** Stops the guest at once, like a power failure. */
  public void cutPower() {
    guest.destroy();
  }

  /** Asks the guest once more. One that has just stopped cannot be asked. */
  public void ask() {
    if (!isOn()) {
      return;
    }
    requests++;
    if (guest.isContainer()) {
      failure = ask(new ContainerConnection(guest));
    } else {
      guest.shutdown();
    }
  }

  /**
   * Asks a container. libvirt would send SIGTERM to init, by which busybox restarts and systemd
   * executes itself.
   *
   * <p>A container whose init had ended at the request before already is ended here: libvirt has
   * had time to notice, and has given the container up.
   */
  private Optional<String> ask(ContainerConnection container) {
    try {
      boolean before = ended;
      ended = container.hasEnded();
      if (!ended) {
        return powerOff(container);
      }
      if (before) {
        cutPower();
      }
      return Optional.empty();
    } catch (HypervisorException e) {
      return Optional.of(e.getMessage());
    }
  }

  /** Why the last request did not reach the guest's init; empty if it did, as far as is known. */
  public Optional<String> failure() {
    return failure;
  }

  /**
   * Runs poweroff in a container.
   *
   * @return why the container's init did not get the request; empty if it did
   */
  static Optional<String> powerOff(GuestConnection container) {
    try {
      Ended ended = container.run(POWER_OFF, new byte[0], ASK_AGAIN);
      return ended.succeeded() || ended.code() > SIGNALLED
          ? Optional.empty()
          : Optional.of(
              "'poweroff' in it ended with exit code " + ended.code() + ": " + ended.said());
    } catch (GuestConnectionException e) {
      return Optional.of("'poweroff' could not be run in it: " + e.getMessage());
    }
  }

  /**
   * The error of a guest that is still on at the end of the time that it had: it says what became
   * of the last request.
   */
  public GraftException tooLate(Duration limit) {
    return tooLate(name, limit, requests, failure);
  }

  static GraftException tooLate(
      String guest, Duration limit, int requests, Optional<String> failure) {
    String last =
        switch (requests) {
          case 0 -> ", and was not asked to";
          case 1 -> ", and the request ";
          default -> ", and the last of " + requests + " requests ";
        };
    String answer =
        requests == 0
            ? ""
            : failure.map(why -> "failed: " + why).orElse("was accepted without an error");
    return new GraftException(
        "the guest '"
            + guest
            + "' did not shut down within "
            + limit.toSeconds()
            + " s"
            + last
            + answer,
        failure.isPresent()
            ? "shut it down from within, or cut its power with --force"
            : "wait longer with --timeout, see what graft console shows, or cut its power with --force");
  }
}

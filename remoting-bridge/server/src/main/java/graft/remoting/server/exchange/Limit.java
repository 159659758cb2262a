package graft.remoting.server.exchange;

import java.util.Arrays;
import java.util.Optional;

/** A limit that a worker enforces, and reports when its session reaches it. */
public enum Limit {
  SESSION_DEVICE_MEMORY(1, "the device memory of a session"),
  SESSION_HOST_MEMORY(2, "the host memory of a session"),
  GUEST_DEVICE_MEMORY(3, "the device memory of a guest's sessions together"),
  GUEST_HOST_MEMORY(4, "the host memory of a guest's sessions together");

  private final int number;
  private final String text;

  Limit(int number, String text) {
    this.number = number;
    this.text = text;
  }

  /** Returns the number that stands for the limit in a message. */
  public int number() {
    return number;
  }

  /** Returns the limit with that number, or nothing if there is none. */
  public static Optional<Limit> of(int number) {
    return Arrays.stream(values()).filter(limit -> limit.number == number).findFirst();
  }

  /** Returns what is limited, as a phrase for messages. */
  public String text() {
    return text;
  }
}

package graft.cli.session;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The part of the time in which each session used its GPU between two looks. Sessions that have
 * ended are forgotten.
 */
public final class SharesGot {
  /** When a session was looked at, and the GPU time that it had used, in seconds. */
  private record Sample(double at, double used) {}

  private Map<String, Sample> before = Map.of();

  /** What {@link #look} calls a session of a server. */
  public static String key(Servers.Answer answer, Map<?, ?> session) {
    return answer.from() + " " + session.get("session");
  }

  /**
   * Looks at the sessions.
   *
   * @return for each {@link #key} a part from 0 to 1: since the last look, or since the session
   *     began if no earlier look has seen it. A session is absent if nobody knows.
   */
  public Map<String, Double> look(List<Servers.Answer> answers) {
    Map<String, Double> got = new HashMap<>();
    Map<String, Sample> seen = new HashMap<>();
    for (Servers.Answer answer : answers) {
      for (Map<?, ?> session : answer.sessions()) {
        if (session.get("gpuSeconds") instanceof Number used
            && session.get("seconds") instanceof Number at) {
          Sample now = new Sample(at.doubleValue(), used.doubleValue());
          String key = key(answer, session);
          seen.put(key, now);
          got.put(key, part(before.getOrDefault(key, new Sample(0, 0)), now));
        }
      }
    }
    before = seen;
    return got;
  }

  private static double part(Sample last, Sample now) {
    return now.at() > last.at() ? (now.used() - last.used()) / (now.at() - last.at()) : 0;
  }
}

package graft.deployment.plan;

import graft.deployment.observe.Snapshot;
import graft.deployment.step.Chain;
import graft.deployment.step.Step;
import graft.deployment.step.StepContext;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListSet;

/**
 * A step on a world of two marks for each step, so that it can be done by half. Kills the process
 * at a chosen moment, by an error that nobody catches. One whose guest is "net" is of a network;
 * one named "free" is independent, one named "plugged" can be left.
 */
public record FakeStep(String world, String guest, String name, String version) implements Step {
  private static final Map<String, Set<String>> WORLDS = new ConcurrentHashMap<>();
  private static final Map<String, String> KILLS = new ConcurrentHashMap<>();
  private static final Map<String, String> FAILURES = new ConcurrentHashMap<>();

  /** The moments of a step at which a process can be killed. */
  static final java.util.List<String> MOMENTS = java.util.List.of("before", "half", "after");

  static Set<String> world(String name) {
    return WORLDS.computeIfAbsent(name, n -> new ConcurrentSkipListSet<>());
  }

  static void killAt(String world, String moment) {
    KILLS.put(world, moment);
  }

  /** A step that fails: its name, or {@code undo NAME}. */
  static void failAt(String world, String name) {
    FAILURES.put(world, name);
  }

  static void liveOn(String world) {
    KILLS.remove(world);
    FAILURES.remove(world);
  }

  @Override
  public Chain chain() {
    return guest.equals("net") ? Chain.network(guest) : Chain.guest(guest);
  }

  @Override
  public boolean isIndependent() {
    return name.equals("free");
  }

  @Override
  public boolean canBeLeft() {
    return isIndependent() || name.equals("plugged");
  }

  @Override
  public String describe() {
    return "mark " + name;
  }

  @Override
  public boolean isDone(Snapshot snapshot) {
    return world(world).contains(mark(1)) && world(world).contains(mark(2));
  }

  @Override
  public Map<String, Object> apply(StepContext context) {
    kill("do", "before");
    world(world).add(mark(1));
    kill("do", "half");
    fail(name);
    world(world).add(mark(2));
    kill("do", "after");
    return Map.of("mark", name);
  }

  @Override
  public void undo(StepContext context, Map<String, Object> before) {
    kill("undo", "before");
    world(world).remove(mark(2));
    kill("undo", "half");
    fail("undo " + name);
    world(world).remove(mark(1));
    kill("undo", "after");
  }

  private void fail(String what) {
    if (what.equals(FAILURES.get(world))) {
      throw new graft.deployment.step.StepFailure(what + " does not work", "");
    }
  }

  private String mark(int half) {
    return guest + "/" + name + "@" + version + "#" + half;
  }

  private void kill(String direction, String moment) {
    if ((direction + " " + name + " " + moment).equals(KILLS.get(world))) {
      throw new Killed();
    }
  }

  /** The end of the process. */
  static final class Killed extends Error {
    private static final long serialVersionUID = 1;
  }
}

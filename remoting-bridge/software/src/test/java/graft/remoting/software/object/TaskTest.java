package graft.remoting.software.object;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

final class TaskTest {
  private final AtomicInteger runs = new AtomicInteger();
  private final Task task = new Task(runs::incrementAndGet, Runnable::run);
  private final List<Runnable> queued = new ArrayList<>();

  private Task queued() {
    Task made = new Task(() -> {}, queued::add);
    made.start(List.of());
    return made;
  }

  @Test
  void waitsForAllTasksBeforeIt() {
    task.start(List.of(queued(), queued(), Task.ended()));

    queued.get(0).run();
    assertThat(runs).hasValue(0);
    queued.get(1).run();
    assertThat(runs).hasValue(1);
    assertThat(task.isDone()).isTrue();
  }

  /** It ran twice: a kernel of a graph added to its memory once too often, once in some hours. */
  @Test
  @Timeout(120)
  void runsOnceIfTheTaskBeforeItEndsWhileItIsAdded() throws Exception {
    Task before = queued();
    Thread adds = new Thread(() -> task.start(List.of(before)));
    synchronized (task) { // stops the other thread at the place where it counts
      adds.start();
      while (adds.getState() != Thread.State.BLOCKED) {
        Thread.onSpinWait();
      }
      queued.get(0).run();
    }
    adds.join();

    assertThat(runs).hasValue(1);
  }
}

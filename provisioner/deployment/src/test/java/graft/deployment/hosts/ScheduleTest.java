package graft.deployment.hosts;

import static org.assertj.core.api.Assertions.assertThat;

import graft.common.values.Name;
import graft.deployment.descriptor.hosts.OnFailure;
import graft.deployment.hosts.HostReply.Outcome;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** In which order hosts are asked, and what the failure of one means for the others. */
@Timeout(30)
class ScheduleTest {
  private static Schedule.Task task(String host, String... after) {
    return new Schedule.Task(
        new Name(host), Set.copyOf(List.of(after).stream().map(Name::new).toList()));
  }

  private static HostReply done(Name host) {
    return new HostReply(host, Outcome.DONE, 0, Map.of(), "", Duration.ZERO);
  }

  private static HostReply failed(Name host) {
    return new HostReply(host, Outcome.FAILED, 1, Map.of(), "no", Duration.ZERO);
  }

  private static List<String> run(
      OnFailure policy, int most, List<Schedule.Task> tasks, Function<Name, HostReply> ask)
      throws Exception {
    return new Schedule(most, policy, host -> {})
        .run(tasks, ask).stream().map(r -> r.host() + " " + r.outcome()).toList();
  }

  @Test
  void aHostBeginsAfterThoseWhoseGpusItUses() throws Exception {
    List<String> begun = Collections.synchronizedList(new ArrayList<>());
    List<String> replies =
        run(
            OnFailure.STOP,
            8,
            List.of(task("c", "b"), task("b", "a"), task("a")),
            host -> {
              begun.add(host.text());
              return done(host);
            });
    assertThat(begun).containsExactly("a", "b", "c");
    assertThat(replies).containsExactly("c DONE", "b DONE", "a DONE");
  }

  @Test
  void noMoreHostsThanTheBoundAreAskedAtOneTime() throws Exception {
    AtomicInteger now = new AtomicInteger();
    AtomicInteger most = new AtomicInteger();
    CountDownLatch three = new CountDownLatch(3);
    List<Schedule.Task> tasks = IntStream.range(0, 12).mapToObj(i -> task("h" + i)).toList();
    run(
        OnFailure.STOP,
        3,
        tasks,
        host -> {
          most.accumulateAndGet(now.incrementAndGet(), Math::max);
          three.countDown();
          await(three);
          now.decrementAndGet();
          return done(host);
        });
    assertThat(most).hasValue(3);
  }

  private static void await(CountDownLatch latch) {
    try {
      assertThat(latch.await(20, TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void stopInterruptsThoseAtWorkAndBeginsNoOther() throws Exception {
    CountDownLatch interrupted = new CountDownLatch(1);
    Set<String> asked = Collections.synchronizedSet(new TreeSet<>());
    List<String> replies =
        new Schedule(
                2,
                OnFailure.STOP,
                host -> {
                  asked.add(host.text());
                  interrupted.countDown();
                })
                .run(
                    List.of(task("bad"), task("slow"), task("later")),
                    host -> {
                      if (host.text().equals("bad")) {
                        return failed(host);
                      }
                      await(interrupted);
                      return failed(host);
                    })
                .stream()
                .map(r -> r.host() + " " + r.outcome())
                .toList();
    assertThat(asked).containsExactly("slow");
    assertThat(replies).containsExactly("bad FAILED", "slow FAILED", "later NOT_BEGUN");
  }

  @Test
  void waitLetsThoseAtWorkComeToTheirEnd() throws Exception {
    CountDownLatch slowBegan = new CountDownLatch(1);
    assertThat(
            run(
                OnFailure.WAIT,
                2,
                List.of(task("bad"), task("slow"), task("later")),
                host -> {
                  if (host.text().equals("bad")) {
                    await(slowBegan);
                    return failed(host);
                  }
                  slowBegan.countDown();
                  return done(host);
                }))
        .contains("bad FAILED", "slow DONE");
  }

  @Test
  void leaveGoesOnButForThoseThatUseTheHostsGpus() throws Exception {
    assertThat(
            run(
                OnFailure.LEAVE,
                1,
                List.of(task("bad"), task("user", "bad"), task("its-user", "user"), task("other")),
                host -> host.text().equals("bad") ? failed(host) : done(host)))
        .containsExactly("bad FAILED", "user NOT_BEGUN", "its-user NOT_BEGUN", "other DONE");
  }

  @Test
  void anErrorOfThisMachineIsAnAnswerToo() throws Exception {
    assertThat(
            run(
                OnFailure.LEAVE,
                1,
                List.of(task("a"), task("b")),
                host -> {
                  if (host.text().equals("a")) {
                    throw new IllegalStateException("broken");
                  }
                  return done(host);
                }))
        .containsExactly("a UNREACHABLE", "b DONE");
  }
}

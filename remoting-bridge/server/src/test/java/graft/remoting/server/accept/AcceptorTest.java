package graft.remoting.server.accept;

import static org.assertj.core.api.Assertions.assertThat;

import graft.remoting.server.system.Listener;
import java.util.AbstractList;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class AcceptorTest {
  /** As when the kernel has no room for another thread. */
  private static final class NoListeners extends AbstractList<Listener> {
    @Override
    public Stream<Listener> stream() {
      throw new OutOfMemoryError("unable to create native thread");
    }

    @Override
    public Listener get(int index) {
      throw new IndexOutOfBoundsException(index);
    }

    @Override
    public int size() {
      return 0;
    }
  }

  @Test
  void anErrorThatEndsTheAcceptingThreadEndsTheProcess() throws Exception {
    CompletableFuture<Throwable> end = new CompletableFuture<>();
    new Acceptor(new NoListeners(), null, null, null, null, 1, end::complete).start();
    assertThat(end.get(10, TimeUnit.SECONDS)).isInstanceOf(OutOfMemoryError.class);
  }
}

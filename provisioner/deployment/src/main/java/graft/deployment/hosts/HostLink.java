package graft.deployment.hosts;

import java.util.function.Consumer;

/** The way to the Graft of a host. */
public interface HostLink {
  /**
   * Sends a request and waits for the answer; that the host cannot be reached is an answer too.
   *
   * @param progress gets each line that the host's Graft writes to standard error
   */
  HostReply ask(HostRequest request, Consumer<String> progress);
}

package graft.deployment.descriptor.guest;

import graft.common.bind.Default;
import graft.common.bind.Doc;
import graft.common.values.TimeSpan;
import java.util.Optional;

/** When a guest counts as ready, and the time limit for it. */
@Doc("When a guest counts as ready, and the time limit for it.")
public record Ready(
    @Default("agent")
        @Doc("agent: when its guest agent answers; console: when it prints a text; off: at once.")
        When when,
    @Doc("The text to wait for, with when: console.") Optional<String> text,
    @Default("5m") @Doc("The time limit.") TimeSpan timeout,
    @Default("true") @Doc("Whether a CUDA program must run in a guest with a vGPU.")
        boolean verify) {

  /** The signs of readiness. */
  public enum When {
    AGENT,
    CONSOLE,
    OFF
  }
}

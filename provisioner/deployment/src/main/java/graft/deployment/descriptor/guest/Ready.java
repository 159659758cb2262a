package graft.deployment.descriptor.guest;

import graft.common.bind.Default;
import graft.common.bind.Doc;
import graft.common.values.TimeSpan;
import java.util.Optional;

/** When a guest counts as ready, and how long that may take. */
@Doc("When a guest counts as ready, and how long that may take.")
public record Ready(
    @Default("agent")
        @Doc("agent: its guest agent answers; console: it prints a text; off: at once.")
        When when,
    @Doc("The text that it prints, where when is console.") Optional<String> text,
    @Default("5m") @Doc("How long it may take.") TimeSpan timeout,
    @Default("true") @Doc("Whether a CUDA program must run in a guest with a vGPU.")
        boolean verify) {

  /** The signs of readiness. */
  public enum When {
    AGENT,
    CONSOLE,
    OFF
  }
}

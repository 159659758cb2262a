package graft.deployment.step.guest;

import java.io.IOException;

/** A step that writes a guest's payload, its token too, into a file that the guest boots from. */
public interface PayloadStep extends BringsPayload {
  /** Writes the file again, for the next boot. */
  void renew() throws IOException;
}

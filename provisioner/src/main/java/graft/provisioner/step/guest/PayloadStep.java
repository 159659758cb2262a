package graft.provisioner.step.guest;

import graft.provisioner.step.Step;
import java.io.IOException;

/** A step that writes a guest's payload, its token too, into a file that the guest boots from. */
public interface PayloadStep extends Step {
  /** Writes the file anew, for the next boot. */
  void renew() throws IOException;
}

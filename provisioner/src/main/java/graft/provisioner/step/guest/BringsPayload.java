package graft.provisioner.step.guest;

import graft.provisioner.setup.Payload;
import graft.provisioner.step.Step;

/** A step that brings a guest what it is to have, whatever the way. */
public interface BringsPayload extends Step {
  Payload payload();
}

package graft.deployment.step.guest;

import graft.deployment.step.GuestStep;
import graft.guests.payload.Payload;

/** A step that installs a payload in a guest, by any install method. */
public interface BringsPayload extends GuestStep {
  Payload payload();
}

package graft.deployment.step.guest;

import graft.deployment.step.GuestStep;
import graft.guests.payload.Payload;

/** A step that brings a guest what it is to have, whatever the way. */
public interface BringsPayload extends GuestStep {
  Payload payload();
}

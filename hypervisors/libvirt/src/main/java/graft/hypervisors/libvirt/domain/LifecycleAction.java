package graft.hypervisors.libvirt.domain;

import java.util.Locale;

/** What libvirt does when a guest powers off, reboots or crashes. */
public enum LifecycleAction {
  DESTROY,
  RESTART,
  PRESERVE;

  /** libvirt's name of the action. */
  public String xmlName() {
    return name().toLowerCase(Locale.ROOT);
  }
}

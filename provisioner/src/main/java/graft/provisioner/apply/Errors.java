package graft.provisioner.apply;

import graft.hypervisors.libvirt.HypervisorException;
import graft.provisioner.GraftException;

/** What to tell people of an exception. */
final class Errors {
  private Errors() {}

  static String said(Throwable e) {
    boolean ours = e instanceof GraftException || e instanceof HypervisorException;
    return ours ? e.getMessage() : e.toString();
  }
}

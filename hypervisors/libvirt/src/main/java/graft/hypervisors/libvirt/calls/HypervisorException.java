package graft.hypervisors.libvirt.calls;

import java.util.Optional;

/**
 * Something asked of a hypervisor failed. The message says what was tried, on what, why it failed
 * and what to do next.
 */
public class HypervisorException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  private final String attempted;
  private final String target;
  private final String reason;
  private final String advice;
  private final transient Optional<LibvirtError> libvirtError;

  public HypervisorException(Failure failure, Throwable cause) {
    super(failure.message(), cause);
    this.attempted = failure.attempted();
    this.target = failure.target();
    this.reason = failure.reason();
    this.advice = failure.advice();
    this.libvirtError = failure.libvirtError();
  }

  /** For a failure that libvirt did not report. */
  public HypervisorException(String attempted, String target, String reason, String advice) {
    this(new Failure(attempted, target, reason, advice, Optional.empty()), null);
  }

  /** For a failure that libvirt did not report. */
  public HypervisorException(
      String attempted, String target, String reason, String advice, Throwable cause) {
    this(new Failure(attempted, target, reason, advice, Optional.empty()), cause);
  }

  /** What was tried, as in {@code start}. */
  public String attempted() {
    return attempted;
  }

  /** On what, as in {@code guest 'a' at qemu:///system}. */
  public String target() {
    return target;
  }

  /** Why it failed, in libvirt's words where it said so. */
  public String reason() {
    return reason;
  }

  /** What to do next. */
  public String advice() {
    return advice;
  }

  /** libvirt's own error, absent when libvirt recorded none. */
  public Optional<LibvirtError> libvirtError() {
    return libvirtError;
  }

  /** Whether libvirt reported this error. */
  public boolean is(LibvirtError.Code code) {
    return libvirtError.map(e -> e.code() == code.number()).orElse(false);
  }

  /** The parts of a message. */
  public record Failure(
      String attempted,
      String target,
      String reason,
      String advice,
      Optional<LibvirtError> libvirtError) {

    String message() {
      String code = libvirtError.map(e -> " [" + e.codeName() + "]").orElse("");
      return "cannot " + attempted + " " + target + ": " + reason + code + "; " + advice;
    }
  }
}

package graft.hypervisors.libvirt.calls;

import java.util.Optional;

/**
 * An operation of a hypervisor failed. The message states what was tried, on what, why it failed
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

  /** Creates an exception for a failure that libvirt did not report. */
  public HypervisorException(String attempted, String target, String reason, String advice) {
    this(new Failure(attempted, target, reason, advice, Optional.empty()), null);
  }

  /** Creates an exception for a failure that libvirt did not report. */
  public HypervisorException(
      String attempted, String target, String reason, String advice, Throwable cause) {
    this(new Failure(attempted, target, reason, advice, Optional.empty()), cause);
  }

  /** The operation that was tried, as in {@code start}. */
  public String attempted() {
    return attempted;
  }

  /** The object of the operation, as in {@code guest 'a' at qemu:///system}. */
  public String target() {
    return target;
  }

  /** The reason for the failure, in libvirt's words if libvirt gave a reason. */
  public String reason() {
    return reason;
  }

  /** Advice on what to do next. */
  public String advice() {
    return advice;
  }

  /** libvirt's error; absent if libvirt recorded none. */
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

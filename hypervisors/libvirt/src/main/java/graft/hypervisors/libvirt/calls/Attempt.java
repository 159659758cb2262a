package graft.hypervisors.libvirt.calls;

import com.sun.jna.PointerType;
import graft.hypervisors.libvirt.calls.HypervisorException.Failure;
import java.util.Optional;
import org.libvirt.jna.CString;

/**
 * One call of libvirt: a description for messages, and the check of the returned value. A call that
 * failed without recording an error is still a failure.
 *
 * @param action as in {@code start}
 * @param target as in {@code guest 'a' at qemu:///system}
 */
public record Attempt(String action, String target) {

  /** Returns a count or zero unchanged. libvirt returns -1 on failure. */
  public int check(int result) {
    if (result < 0) {
      throw failure();
    }
    return result;
  }

  // There is no overload for Object, because the compiler would choose it for an Integer in place
  // of check(int).

  /** Returns a pointer unchanged. libvirt returns NULL on failure. */
  public <P extends PointerType> P check(P pointer) {
    if (pointer == null) {
      throw failure();
    }
    return pointer;
  }

  /** Returns a text that libvirt owns unchanged. libvirt returns NULL on failure. */
  public String check(String text) {
    if (text == null) {
      throw failure();
    }
    return text;
  }

  /** The text as a string. The text's native memory is freed. */
  public String text(CString string) {
    return check(string).toString();
  }

  /** The last error of this thread; empty if libvirt recorded none. */
  public static Optional<LibvirtError> lastError() {
    LibvirtExtras extras = LibvirtLibrary.extras();
    int code = extras.virGetLastErrorCode();
    if (code == 0) {
      return Optional.empty();
    }
    String message = extras.virGetLastErrorMessage();
    return Optional.of(
        new LibvirtError(
            code,
            extras.virGetLastErrorDomain(),
            message == null ? "" : GuestText.printable(message))); // may quote a guest's agent
  }

  /** The exception for the last error of this thread. */
  public HypervisorException failure() {
    Optional<LibvirtError> error = lastError();
    String reason =
        error.map(LibvirtError::message).orElse("the call failed and libvirt recorded no error");
    LibvirtError.Code code = error.map(e -> LibvirtError.Code.of(e.code())).orElse(null);
    if (error.map(LibvirtError::isLostConnection).orElse(false)) {
      return new HostUnreachableException(
          new Failure(action, target, reason, Advice.LOST_CONNECTION, error), null);
    }
    Failure failure = new Failure(action, target, reason, Advice.on(code, reason), error);
    if (code == null) {
      return new HypervisorException(failure, null);
    }
    return switch (code) {
      case NO_DOMAIN, NO_NETWORK, NO_STORAGE_POOL, NO_STORAGE_VOL, NO_NODE_DEVICE ->
          new NotFoundException(failure);
      case NO_CONNECT, INVALID_CONN, UNKNOWN_HOST -> new HostUnreachableException(failure, null);
      case AGENT_UNRESPONSIVE, AGENT_UNSYNCED -> new AgentException(failure, true);
      default -> new HypervisorException(failure, null);
    };
  }
}

package graft.hypervisors.libvirt;

import graft.common.json.Json;
import graft.hypervisors.libvirt.calls.AgentException;
import graft.hypervisors.libvirt.calls.GuestText;
import graft.hypervisors.libvirt.calls.HypervisorException;
import graft.hypervisors.libvirt.calls.LibvirtError;
import graft.hypervisors.libvirt.calls.LibvirtLibrary;
import java.io.IOException;
import java.time.Duration;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.Map;
import org.libvirt.jna.CString;

/**
 * Sends requests in the guest agent's protocol and parses the replies.
 *
 * @see <a href="https://qemu-project.gitlab.io/qemu/interop/qemu-ga-ref.html">QEMU guest agent
 *     protocol reference</a>
 */
final class AgentChannel {

  /**
   * The maximum number of bytes in one message, before Base64. libvirt 9.0 loses the agent when a
   * message does not fit into the buffer of the agent's socket at once: 192 KiB succeeded, 256 KiB
   * failed.
   */
  static final int MAX_PAYLOAD = 128 * 1024;

  /** The maximum length of a guest's text that an error message quotes. */
  static final int SHOWN = 200;

  private final String guest;
  private final AgentLine line;

  /**
   * Creates a channel.
   *
   * @param guest the guest's name, for messages
   */
  AgentChannel(String guest, AgentLine line) {
    this.guest = guest;
    this.line = line;
  }

  /** The connection to a guest's agent through libvirt. */
  static AgentLine of(Guest guest) {
    return (action, question, seconds) -> send(guest, action, question, seconds);
  }

  /**
   * Sends a request and waits for the reply.
   *
   * @param action for messages
   * @return the field {@code return} of the reply
   * @throws AgentException if the agent does not reply in time, or refuses
   */
  Object ask(String action, String command, Map<String, ?> arguments, Duration timeout) {
    Map<String, Object> message = new LinkedHashMap<>();
    message.put("execute", command);
    if (!arguments.isEmpty()) {
      message.put("arguments", arguments);
    }
    String answer = line.ask(action, Json.line(message), seconds(timeout));
    try {
      Map<String, Object> tree = Json.readObject(answer);
      if (!tree.containsKey("return")) {
        throw refusal(
            action, "the agent's answer holds no return value: " + GuestText.line(answer, SHOWN));
      }
      return tree.get("return");
    } catch (IOException e) {
      throw refusal(
          action, "the agent's answer is not JSON: " + GuestText.line(e.getMessage(), SHOWN));
    }
  }

  /** Sends a request for an object. The result has no fields if the reply is not an object. */
  Map<?, ?> askFields(String action, String command, Map<String, ?> arguments, Duration timeout) {
    return ask(action, command, arguments, timeout) instanceof Map<?, ?> fields ? fields : Map.of();
  }

  /**
   * A whole number in a reply.
   *
   * @throws AgentException if the field is not a whole number from {@code least} to {@code most}
   */
  long number(String action, Map<?, ?> answer, String field, long least, long most) {
    if (answer.get(field) instanceof Long value && value >= least && value <= most) {
      return value;
    }
    throw wrong(action, field);
  }

  /**
   * The bytes of a field in a reply; no bytes if the field is absent.
   *
   * @throws AgentException if the field is not Base64
   */
  byte[] bytes(String action, Map<?, ?> answer, String field) {
    if (!answer.containsKey(field)) {
      return new byte[0];
    }
    try {
      if (answer.get(field) instanceof String text) {
        return Base64.getDecoder().decode(text);
      }
    } catch (IllegalArgumentException e) {
      // the exception below reports the error
    }
    throw wrong(action, field);
  }

  private AgentException wrong(String action, String field) {
    return refusal(action, "the agent's answer has no '" + field + "' as its protocol says");
  }

  private static String send(Guest guest, String action, String question, int seconds) {
    return guest.with(
        domain -> {
          CString answer =
              LibvirtLibrary.qemu(guest.toString())
                  .virDomainQemuAgentCommand(domain, question, seconds, 0);
          if (answer != null) {
            return answer.toString();
          }
          HypervisorException failure = guest.attempt(action).failure();
          // libvirt reports a refusal by the agent as an internal error.
          if (failure.is(LibvirtError.Code.INTERNAL_ERROR)) {
            throw refusal(guest.toString(), action, failure.reason());
          }
          throw failure;
        });
  }

  AgentException refusal(String action, String reason) {
    return refusal(guest, action, reason);
  }

  /** A failure that no refusal of the agent's is. */
  AgentException failure(String action, String reason, String advice) {
    return new AgentException(action, guest, reason, advice, false);
  }

  private static AgentException refusal(String guest, String action, String reason) {
    String advice =
        reason.contains("has been disabled")
            ? "allow the command in the guest's agent configuration (/etc/qemu/qemu-ga.conf)"
            : "check the path and the rights inside the guest";
    return new AgentException(action, guest, reason, advice, false);
  }

  /** libvirt counts in whole seconds, and 0 would mean not to wait at all. */
  private static int seconds(Duration timeout) {
    return (int) Math.max(1, Math.min(Integer.MAX_VALUE, timeout.plusMillis(999).toSeconds()));
  }
}

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
 * Questions and answers in the guest agent's protocol.
 *
 * @see <a href="https://qemu-project.gitlab.io/qemu/interop/qemu-ga-ref.html">QEMU guest agent
 *     protocol reference</a>
 */
final class AgentChannel {

  /**
   * Bytes that are sent in one message, before Base64. libvirt 9.0 loses the agent when a message
   * does not fit into the buffer of its socket at once: 192 KiB went through, 256 KiB did not.
   */
  static final int MAX_PAYLOAD = 128 * 1024;

  /** The maximum length of an invalid answer in a message. */
  private static final int SHOWN = 200;

  private final String guest;
  private final AgentLine line;

  /**
   * A channel.
   *
   * @param guest for messages
   */
  AgentChannel(String guest, AgentLine line) {
    this.guest = guest;
    this.line = line;
  }

  /** The channel of libvirt to a guest's agent. */
  static AgentLine of(Guest guest) {
    return (action, question, seconds) -> send(guest, action, question, seconds);
  }

  /**
   * Asks and waits for the answer.
   *
   * @param action for messages
   * @return the answer's {@code return}
   * @throws AgentException when the agent does not answer in time, or refuses
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

  /** Asks for an object; one without fields if the answer is something else. */
  Map<?, ?> askFields(String action, String command, Map<String, ?> arguments, Duration timeout) {
    return ask(action, command, arguments, timeout) instanceof Map<?, ?> fields ? fields : Map.of();
  }

  /**
   * A whole number of an answer.
   *
   * @throws AgentException if there is none from {@code least} to {@code most}
   */
  long number(String action, Map<?, ?> answer, String field, long least, long most) {
    if (answer.get(field) instanceof Long value && value >= least && value <= most) {
      return value;
    }
    throw wrong(action, field);
  }

  /**
   * Bytes of an answer; none if the field is absent.
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
      // reported below
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
          // What the agent itself refuses arrives as libvirt's internal error.
          if (failure.is(LibvirtError.Code.INTERNAL_ERROR)) {
            throw refusal(guest.toString(), action, failure.reason());
          }
          throw failure;
        });
  }

  AgentException refusal(String action, String reason) {
    return refusal(guest, action, reason);
  }

  private static AgentException refusal(String guest, String action, String reason) {
    String advice =
        reason.contains("has been disabled")
            ? "allow the command in the guest's agent configuration (/etc/qemu/qemu-ga.conf)"
            : "check the path and the rights inside the guest";
    return new AgentException(action, guest, reason, advice, false);
  }

  /** The library counts in whole seconds; 0 would mean not to wait at all. */
  private static int seconds(Duration timeout) {
    return (int) Math.max(1, Math.min(Integer.MAX_VALUE, timeout.plusMillis(999).toSeconds()));
  }
}

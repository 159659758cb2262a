package graft.hypervisors.libvirt;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import graft.hypervisors.libvirt.calls.AgentException;
import graft.hypervisors.libvirt.calls.GuestText;
import graft.hypervisors.libvirt.calls.HypervisorException;
import graft.hypervisors.libvirt.calls.LibvirtError;
import graft.hypervisors.libvirt.calls.LibvirtLibrary;
import java.time.Duration;
import java.util.Base64;
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

  private static final ObjectMapper JSON = new ObjectMapper();

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

  ObjectNode newArguments() {
    return JSON.createObjectNode();
  }

  /**
   * Asks and waits for the answer.
   *
   * @param action for messages
   * @return the answer's {@code return}
   * @throws AgentException when the agent does not answer in time, or refuses
   */
  JsonNode ask(String action, String command, ObjectNode arguments, Duration timeout) {
    ObjectNode message = JSON.createObjectNode();
    message.put("execute", command);
    if (!arguments.isEmpty()) {
      message.set("arguments", arguments);
    }
    String answer = line.ask(action, message.toString(), seconds(timeout));
    try {
      JsonNode value = JSON.readTree(answer).get("return");
      if (value == null) {
        throw refusal(
            action, "the agent's answer holds no return value: " + GuestText.line(answer, SHOWN));
      }
      return value;
    } catch (JsonProcessingException e) {
      throw refusal(
          action,
          "the agent's answer is not JSON: " + GuestText.line(e.getOriginalMessage(), SHOWN));
    }
  }

  /**
   * A whole number of an answer.
   *
   * @throws AgentException if there is none from {@code least} to {@code most}
   */
  long number(String action, JsonNode answer, String field, long least, long most) {
    JsonNode value = answer.path(field);
    if (!isNumber(value) || value.longValue() < least || value.longValue() > most) {
      throw wrong(action, field);
    }
    return value.longValue();
  }

  static boolean isNumber(JsonNode value) {
    return value.isIntegralNumber() && value.canConvertToLong();
  }

  /**
   * Bytes of an answer; none if the field is absent.
   *
   * @throws AgentException if the field is not Base64
   */
  byte[] bytes(String action, JsonNode answer, String field) {
    JsonNode value = answer.path(field);
    if (value.isMissingNode()) {
      return new byte[0];
    }
    try {
      if (value.isTextual()) {
        return Base64.getDecoder().decode(value.textValue());
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

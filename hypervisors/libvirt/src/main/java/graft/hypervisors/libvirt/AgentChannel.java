package graft.hypervisors.libvirt;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.time.Duration;
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

  private final Guest guest;

  AgentChannel(Guest guest) {
    this.guest = guest;
  }

  ObjectNode newArguments() {
    return JSON.createObjectNode();
  }

  /**
   * Asks and waits for the answer.
   *
   * @param action for messages
   * @return the answer's {@code return}
   * @throws AgentException when nobody answers in time, or with a refusal
   */
  JsonNode ask(String action, String command, ObjectNode arguments, Duration timeout) {
    ObjectNode message = JSON.createObjectNode();
    message.put("execute", command);
    if (!arguments.isEmpty()) {
      message.set("arguments", arguments);
    }
    String answer = send(guest.attempt(action), message.toString(), seconds(timeout));
    try {
      JsonNode value = JSON.readTree(answer).get("return");
      if (value == null) {
        throw refusal(action, "the agent's answer holds no return value: " + answer);
      }
      return value;
    } catch (JsonProcessingException e) {
      throw refusal(action, "the agent's answer is not JSON: " + e.getOriginalMessage());
    }
  }

  private String send(Attempt attempt, String message, int seconds) {
    return guest.with(
        domain -> {
          CString answer =
              LibvirtLibrary.qemu(guest.toString())
                  .virDomainQemuAgentCommand(domain, message, seconds, 0);
          if (answer != null) {
            return answer.toString();
          }
          HypervisorException failure = attempt.failure();
          // What the agent itself refuses arrives as libvirt's internal error.
          if (failure.is(LibvirtError.Code.INTERNAL_ERROR)) {
            throw refusal(attempt.action(), failure.reason());
          }
          throw failure;
        });
  }

  AgentException refusal(String action, String reason) {
    String advice =
        reason.contains("has been disabled")
            ? "allow the command in the guest's agent configuration (/etc/qemu/qemu-ga.conf)"
            : "check the path and the rights inside the guest";
    return new AgentException(action, guest.toString(), reason, advice, false);
  }

  /** The library counts in whole seconds; 0 would mean not to wait at all. */
  private static int seconds(Duration timeout) {
    return (int) Math.max(1, Math.min(Integer.MAX_VALUE, timeout.plusMillis(999).toSeconds()));
  }
}

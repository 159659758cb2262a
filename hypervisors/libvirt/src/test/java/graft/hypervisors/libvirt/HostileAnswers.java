package graft.hypervisors.libvirt;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.util.RawValue;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Random;

/** Replies of a hostile agent: nonsense, or replies that almost follow the protocol. */
public final class HostileAnswers {
  /**
   * Texts with a special meaning for a shell, a command's options, Ansible, YAML, or a terminal.
   */
  public static final List<String> TEXTS =
      List.of(
          "",
          "-",
          "--",
          "-oProxyCommand=touch /tmp/graft-was-here",
          "--extra-vars=@/etc/passwd",
          "; touch /tmp/graft-was-here #",
          "$(touch /tmp/graft-was-here)",
          "`touch /tmp/graft-was-here`",
          "' \" \\ ' && id || id | id > /tmp/x",
          "{{ lookup('pipe', 'touch /tmp/graft-was-here') }}",
          "{% for x in lookup('pipe', 'id') %}{{ x }}{% endfor %}",
          "{# comment #}",
          "!unsafe \"x\"",
          "\" : [ { & * ! | > % @ `\n- x",
          "---\n...\n",
          "../../../../etc/passwd",
          "/etc/passwd\u0000.txt",
          "\u001b]0;owned\u0007\u001b[2J\u009b31m\r",
          "changed=99999999999999999999\n",
          "changed=3\nfailed: \u001b[2J\n",
          "result=ok\nguest=bob\nround_trip_us=NaN\npinned_to_device_mb_s=1e999\n",
          "server = tcp://-oX:1, $(id)://x, tcp://10.0.2.2:7799\n",
          "\ufffd\uffff\u202e",
          "x".repeat(70_000),
          "a=b\n".repeat(5_000));

  private HostileAnswers() {}

  /** A reply to a request of Graft. */
  public static String to(String question, Random random) {
    if (random.nextInt(10) == 0) {
      return List.of("", "null", "[]", "{", "{\"return\"", "{\"error\":1}", text(random))
          .get(random.nextInt(7));
    }
    ObjectNode value = JsonNodeFactory.instance.objectNode();
    if (question.contains("guest-file-open")) {
      return answer(random.nextInt(4) == 0 ? any(random, 0) : "7");
    }
    if (question.contains("guest-exec-status")) {
      value.put("exited", true);
      value.put("exitcode", random.nextInt(3) - 1);
      value.put("out-data", base64(random));
      value.put("err-data", base64(random));
    } else if (question.contains("guest-exec")) {
      value.put("pid", 1 + random.nextInt(100));
    } else if (question.contains("guest-file-read")) {
      value.put("count", random.nextInt());
      value.put("buf-b64", base64(random));
      value.put("eof", random.nextInt(3) == 0);
    } else if (question.contains("guest-file-write")) {
      value.put("count", random.nextInt(400) - 5);
      value.put("eof", false);
    }
    List<String> fields = new ArrayList<>();
    value.fieldNames().forEachRemaining(fields::add);
    if (!fields.isEmpty() && random.nextInt(3) == 0) {
      String field = fields.get(random.nextInt(fields.size()));
      if (random.nextInt(4) == 0) {
        value.remove(field);
      } else {
        value.putRawValue(field, new RawValue(any(random, 0)));
      }
    }
    return answer(random.nextInt(20) == 0 ? any(random, 0) : value.toString());
  }

  private static String answer(String value) {
    return "{\"return\": " + value + "}";
  }

  /** A text that consists of the texts above, cut and repeated. */
  public static String text(Random random) {
    String one = TEXTS.get(random.nextInt(TEXTS.size()));
    String other = TEXTS.get(random.nextInt(TEXTS.size()));
    return switch (random.nextInt(4)) {
      case 0 -> one + other;
      case 1 -> other.substring(0, random.nextInt(other.length() + 1)) + one;
      case 2 -> one + (char) random.nextInt(0xd800);
      default -> one;
    };
  }

  private static String base64(Random random) {
    byte[] bytes = text(random).getBytes(StandardCharsets.UTF_8);
    if (random.nextInt(4) == 0 && bytes.length > 0) {
      bytes[random.nextInt(bytes.length)] = (byte) random.nextInt(); // makes the text invalid UTF-8
    }
    String text = Base64.getEncoder().encodeToString(bytes);
    return random.nextInt(20) == 0 ? text + "*" : text;
  }

  /** A random JSON value. */
  private static String any(Random random, int depth) {
    return switch (random.nextInt(depth > 3 ? 7 : 9)) {
      case 0 -> "null";
      case 1 -> String.valueOf(random.nextBoolean());
      case 2 -> String.valueOf(random.nextLong());
      case 3 -> new BigInteger(4000, random).toString();
      case 4 -> random.nextInt() + "e" + random.nextInt(100_000);
      case 5 -> String.valueOf(random.nextDouble());
      case 6 -> quoted(text(random));
      case 7 -> "[" + any(random, depth + 1) + "," + any(random, depth + 1) + "]";
      default -> "{" + quoted(text(random)) + ":" + any(random, depth + 1) + "}";
    };
  }

  private static String quoted(String text) {
    try {
      return new ObjectMapper().writeValueAsString(text);
    } catch (JsonProcessingException e) {
      throw new AssertionError(e);
    }
  }
}

package graft.cli.terminal;

import graft.hypervisors.libvirt.ConsoleLog;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;

/** Makes the output of a guest's console safe for a terminal, piece by piece. */
public final class ConsolePrinter {
  private static final char ESCAPE = 0x1b;

  /**
   * The longest control sequence that is completed before it is printed. Programs use shorter ones.
   */
  private static final int LONGEST_SEQUENCE = 256;

  private final CharsetDecoder decoder =
      StandardCharsets.UTF_8
          .newDecoder()
          .onMalformedInput(CodingErrorAction.REPLACE)
          .onUnmappableCharacter(CodingErrorAction.REPLACE);

  private byte[] undecoded = new byte[0];
  private String unfinished = "";

  /**
   * Converts the next piece. An incomplete control sequence at the end is kept until the next
   * piece.
   */
  public String next(byte[] piece) {
    String text = unfinished + decode(piece);
    int escape = text.lastIndexOf(ESCAPE);
    boolean waits =
        escape >= 0
            && text.length() - escape < LONGEST_SEQUENCE
            && ConsoleLog.printable(text.substring(escape)).startsWith("\\u001b");
    unfinished = waits ? text.substring(escape) : "";
    return ConsoleLog.printable(waits ? text.substring(0, escape) : text);
  }

  private String decode(byte[] piece) {
    ByteBuffer bytes = ByteBuffer.allocate(undecoded.length + piece.length);
    bytes.put(undecoded).put(piece).flip();
    CharBuffer text = CharBuffer.allocate(bytes.remaining());
    decoder.decode(bytes, text, false);
    undecoded = new byte[bytes.remaining()];
    bytes.get(undecoded);
    return text.flip().toString();
  }
}

package graft.cli.terminal;

import graft.hypervisors.libvirt.ConsoleLog;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;

/** Makes what a guest prints on its console fit for a terminal, piece by piece. */
public final class ConsolePrinter {
  private static final char ESCAPE = 0x1b;

  /** Longer than any sequence that programs use: what is longer is shown and not awaited. */
  private static final int LONGEST_SEQUENCE = 256;

  private final CharsetDecoder decoder =
      StandardCharsets.UTF_8
          .newDecoder()
          .onMalformedInput(CodingErrorAction.REPLACE)
          .onUnmappableCharacter(CodingErrorAction.REPLACE);

  private byte[] undecoded = new byte[0];
  private String unfinished = "";

  /** The next piece; the beginning of a sequence at its end waits for the piece after it. */
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

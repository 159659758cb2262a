package graft.remoting.server.transport;

import graft.remoting.server.system.Bytes;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Pages and an event channel of this domain for one session of a Xen guest. graft-starter makes
 * them ({@code jail/starter/protocol.h}: {@code struct pages}), because access to xenstore and
 * Xen's devices gives access to every domain; the server and the worker get only the two
 * descriptors.
 *
 * @param self the number of this domain
 * @param port the number of the event channel
 * @param offset the offset of the pages in the descriptor of grants
 * @param references the grant references that the guest maps, 32 bits each
 * @param grants the descriptor of the pages
 * @param events the descriptor of the event channel
 */
public record VchanOffer(
    int self, int port, long offset, Bytes references, int grants, int events) {
  private static final int REFERENCES = 16;
  private static final int BYTES = REFERENCES + Integer.BYTES * GrantedPages.COUNT + Integer.BYTES;

  /** Encodes everything but the descriptors. */
  public Bytes encode() {
    return Bytes.of(
        ByteBuffer.allocate(BYTES)
            .order(ByteOrder.LITTLE_ENDIAN)
            .putInt(self)
            .putInt(port)
            .putLong(offset)
            .put(references.array())
            .array());
  }

  /**
   * Decodes an offer, with this process's own descriptors.
   *
   * @throws IOException if it has another size
   */
  public static VchanOffer decode(Bytes encoded, int grants, int events) throws IOException {
    byte[] all = encoded.array();
    if (all.length != BYTES) {
      throw new IOException("graft-starter grants other pages than those of this version");
    }
    ByteBuffer buffer = ByteBuffer.wrap(all).order(ByteOrder.LITTLE_ENDIAN);
    int self = buffer.getInt();
    int port = buffer.getInt();
    long offset = buffer.getLong();
    byte[] references = new byte[Integer.BYTES * GrantedPages.COUNT];
    buffer.get(references);
    return new VchanOffer(self, port, offset, Bytes.of(references), grants, events);
  }
}

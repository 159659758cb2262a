package graft.remoting.server.transport;

import graft.remoting.device.Memory;
import graft.remoting.server.system.Bytes;
import graft.remoting.server.system.Libc;
import graft.remoting.server.system.Scratch;
import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * Pages and an event channel of this domain for one session of a Xen guest. The server creates
 * them, because access to xenstore and Xen's devices gives access to every domain; the worker gets
 * only the two descriptors.
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
  /** Creates pages and an event channel for a guest. */
  public static VchanOffer make(String guest) throws IOException {
    try (Xenstore xenstore = Xenstore.ofHost()) {
      int domain = xenstore.domain(guest);
      GrantedPages pages = GrantedPages.share(domain);
      try (Scratch port = new Scratch(4)) {
        int events = EventChannel.bind(domain, port.address());
        return new VchanOffer(
            xenstore.self(),
            Memory.getInt(port.address()),
            pages.offset(),
            pages.references(),
            pages.fd(),
            events);
      } catch (IOException e) {
        Libc.close(pages.fd());
        throw e;
      }
    }
  }

  /** Encodes everything but the descriptors. */
  public Bytes encode() {
    byte[] all = references.array();
    return Bytes.of(
        ByteBuffer.allocate(2 * Integer.BYTES + Long.BYTES + all.length)
            .putInt(self)
            .putInt(port)
            .putLong(offset)
            .put(all)
            .array());
  }

  /** Decodes an offer, with the worker's own descriptors. */
  public static VchanOffer decode(Bytes encoded, int grants, int events) {
    ByteBuffer buffer = ByteBuffer.wrap(encoded.array());
    int self = buffer.getInt();
    int port = buffer.getInt();
    long offset = buffer.getLong();
    byte[] references = new byte[buffer.remaining()];
    buffer.get(references);
    return new VchanOffer(self, port, offset, Bytes.of(references), grants, events);
  }
}

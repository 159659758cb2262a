package graft.remoting.server.session;

import graft.remoting.device.CudaResult;
import graft.remoting.device.Memory;
import graft.remoting.server.connection.Channel;
import graft.remoting.server.protocol.ProtocolException;
import graft.remoting.server.session.call.Call;
import graft.remoting.server.session.memory.ShadowMappings;
import graft.remoting.server.system.Scratch;
import java.io.IOException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A connection on which the client reads and writes {@link ShadowMappings}. The session's own
 * stream of records stands still while a host function runs, but the memory that the function reads
 * and writes must be transferred during that time.
 *
 * <p>A record is u64 address and u64 bytes. Function 0 reads. Function 1 writes the data that
 * follows the record. Function 2 merges: the data is followed by a mask with one bit for each byte
 * that is to be written. Every record is answered, a read with its data.
 */
final class MappingConnection {
  /** The largest number of bytes that one record may transfer. */
  static final int MOST = 1 << 20;

  private static final Logger LOG = LoggerFactory.getLogger(MappingConnection.class);
  private static final int RECORD = Channel.RECORD_HEADER + 2 * Long.BYTES;
  private static final int READ = 0;
  private static final int WRITE = 1;
  private static final int MERGE = 2;

  private final Channel channel;
  private final ShadowMappings mappings;
  private final long data = Memory.allocate(MOST);
  private final long mask = Memory.allocate(MOST / Long.BYTES);

  private MappingConnection(Channel channel, ShadowMappings mappings) {
    this.channel = channel;
    this.mappings = mappings;
  }

  /** Serves the connection on a thread of its own until the connection ends. */
  static void start(Channel channel, ShadowMappings mappings) {
    MappingConnection connection = new MappingConnection(channel, mappings);
    Thread thread = new Thread(null, connection::serve, "graft-mappings", 256 << 10);
    thread.setDaemon(true);
    thread.start();
  }

  private void serve() {
    try (channel) {
      for (long record = channel.nextRecord(); record != 0; record = channel.nextRecord()) {
        answer(record);
      }
    } catch (IOException | ProtocolException e) {
      LOG.info("the connection for shadow mappings ended: {}", e.getMessage());
    } finally {
      Memory.free(data);
      Memory.free(mask);
    }
  }

  private void answer(long record) throws IOException {
    int function = Memory.getShort(record + Channel.FUNCTION);
    if (Memory.getInt(record) != RECORD || function < READ || function > MERGE) {
      throw new ProtocolException(
          "the connection for shadow mappings has a record of unknown form");
    }
    long address = Memory.getLong(record + Channel.RECORD_HEADER);
    long bytes = Memory.getLong(record + Channel.RECORD_HEADER + Long.BYTES);
    if (bytes <= 0 || bytes > MOST) {
      throw new ProtocolException(
          "a copy of "
              + Long.toUnsignedString(bytes)
              + " bytes in one record on the connection for shadow mappings");
    }
    if (function == MERGE && ((address | bytes) & Long.BYTES - 1) != 0) {
      throw new ProtocolException(
          "a merge on the connection for shadow mappings must be of whole words");
    }
    if (!copy(function, address, bytes)) {
      throw new ProtocolException(
          "no shadow mapping covers the copied memory at " + Long.toHexString(address));
    }
    reply(function, bytes);
  }

  private boolean copy(int function, long address, long bytes) throws IOException {
    if (function == READ) {
      return mappings.read(address, data, bytes);
    }
    channel.readBulk(data, bytes);
    if (function == WRITE) {
      return mappings.write(data, address, bytes);
    }
    channel.readBulk(mask, bytes / Long.BYTES);
    return mappings.merge(data, mask, address, bytes);
  }

  private void reply(int function, long bytes) throws IOException {
    try (Scratch head = new Scratch(Channel.ANSWER_HEADER)) {
      Call.header(head.address(), Channel.ANSWER_HEADER, 0, 0, CudaResult.SUCCESS);
      if (function == READ) {
        channel.sendBulk(head.address(), Channel.ANSWER_HEADER, data, bytes);
      } else {
        channel.send(head.address(), Channel.ANSWER_HEADER);
      }
    }
  }
}

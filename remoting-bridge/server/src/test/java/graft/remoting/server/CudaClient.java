package graft.remoting.server;

import graft.remoting.server.session.call.Dispatcher;
import graft.remoting.server.system.Bytes;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** Makes CUDA calls on the wire as remoting-bridge/api/README.md describes it. */
final class CudaClient implements AutoCloseable {
  final WireClient wire;
  private int slot;
  private int context;

  CudaClient(WireClient wire) {
    this.wire = wire;
  }

  /** Parameters of a request. */
  static final class Parameters {
    private final ByteBuffer bytes = WireClient.little(1 << 16);

    Parameters put(long value) {
      bytes.putLong(value);
      return this;
    }

    Parameters block(byte[] data) {
      bytes.putLong(data.length).put(Arrays.copyOf(data, data.length + 7 & ~7));
      return this;
    }

    Parameters text(String text) {
      return block((text + "\0").getBytes(StandardCharsets.UTF_8));
    }

    byte[] done() {
      return WireClient.bytes(bytes, 0, bytes.position());
    }
  }

  static Parameters with(long... values) {
    Parameters parameters = new Parameters();
    for (long value : values) {
      parameters.put(value);
    }
    return parameters;
  }

  void context(int id) {
    context = id;
  }

  private int send(String name, Parameters parameters, byte[] bulk, boolean wait)
      throws IOException {
    return send(name, parameters, bulk, (wait ? 1 : 0) | (bulk.length > 0 ? 2 : 0));
  }

  private int send(String name, Parameters parameters, byte[] bulk, int flags) throws IOException {
    byte[] body = parameters.done();
    int used = ++slot;
    wire.send(
        WireClient.little(16 + body.length + bulk.length)
            .putInt(16 + body.length)
            .putShort((short) Dispatcher.number(name))
            .putShort((short) flags)
            .putInt(used)
            .putInt(context)
            .put(body)
            .put(bulk)
            .flip());
    return used;
  }

  void async(String name, Parameters parameters) throws IOException {
    send(name, parameters, new byte[0], false);
  }

  void async(String name, Parameters parameters, byte[] bulk) throws IOException {
    send(name, parameters, bulk, false);
  }

  /** Creates events under the ids {@code first} to {@code last} without waiting for replies. */
  void createEvents(int first, int last) throws IOException {
    int bytes = 32;
    ByteBuffer records = WireClient.little(bytes * (last - first + 1));
    for (int id = first; id <= last; id++) {
      records
          .putInt(bytes)
          .putShort((short) Dispatcher.number("cuEventCreate"))
          .putShort((short) 0)
          .putInt(++slot)
          .putInt(context)
          .putLong(id)
          .putLong(0);
    }
    wire.send(records.flip());
  }

  /** Sends a call whose bulk data is on data connections. */
  void onDataConnections(String name, Parameters parameters) throws IOException {
    send(name, parameters, new byte[0], 2 | 4);
  }

  /** Sends a call that wants a reply, does not wait for the reply, and returns its slot. */
  int begin(String name, Parameters parameters) throws IOException {
    return send(name, parameters, new byte[0], true);
  }

  /** Calls and waits; the reply must be the next answer. */
  ByteBuffer call(String name, Parameters parameters) throws IOException {
    return call(name, parameters, new byte[0]);
  }

  ByteBuffer call(String name, Parameters parameters, byte[] bulk) throws IOException {
    int used = send(name, parameters, bulk, true);
    WireClient.Answer answer = wire.answer();
    if (answer.kind() != 0 || answer.slot() != used) {
      throw new IOException("another answer: " + answer);
    }
    if (answer.result() != 0) {
      throw new CudaError(answer.result());
    }
    return ByteBuffer.wrap(answer.payload().array()).order(ByteOrder.LITTLE_ENDIAN);
  }

  /** The next answer must be data: its identity, offset and bytes. */
  Data data() throws IOException {
    WireClient.Answer answer = wire.answer();
    if (answer.kind() != 1) {
      throw new IOException("no data: " + answer);
    }
    ByteBuffer head = ByteBuffer.wrap(answer.payload().array()).order(ByteOrder.LITTLE_ENDIAN);
    int length = (int) head.getLong(16);
    return new Data(
        head.getLong(0),
        head.getLong(8),
        Bytes.of(WireClient.bytes(wire.receive(length), 0, length)));
  }

  record Data(long read, long offset, Bytes bytes) {}

  /** A CUresult that is not 0. */
  static final class CudaError extends IOException {
    private static final long serialVersionUID = 1;
    final int result;

    CudaError(int result) {
      super("CUresult " + result);
      this.result = result;
    }
  }

  /** Retains the primary context as id 1 and makes it current. */
  CudaClient retain() throws IOException {
    call("graftPrimaryContextRetain", with(1, 0, 0));
    context = 1;
    return this;
  }

  long allocate(long bytes) throws IOException {
    return call("cuMemAlloc_v2", with(1, bytes)).getLong(0);
  }

  /** Loads the module as id 1 and a function under {@code id}. */
  void function(int id, String name) throws IOException {
    if (id == 1) {
      byte[] image = "good image\0".getBytes(StandardCharsets.US_ASCII);
      call("graftModuleLoad", with(1, image.length, 0, 0, 0, 0, 0), image);
    }
    call("graftModuleGetFunction", with(id, 1).text(name).put(0).put(0).put(0));
  }

  void launch(int function, long stream, byte[] parameters) throws IOException {
    async(
        "graftLaunch",
        with(function, 1, 1, 1, 1, 1, 1, 0, stream).block(parameters).put(parameters.length));
  }

  @Override
  public void close() throws IOException {
    wire.close();
  }
}

package graft.remoting.server.backend;

import graft.remoting.device.CudaResult;
import graft.remoting.device.Memory;
import graft.remoting.server.connection.Channel;
import graft.remoting.server.connection.StreamChannel;
import graft.remoting.server.device.GpuDirect;
import graft.remoting.server.session.Session;
import graft.remoting.server.session.SessionTerms;
import graft.remoting.server.session.call.Dispatcher;
import graft.remoting.server.system.NativeSocket;
import graft.remoting.server.system.Scratch;
import graft.remoting.server.transport.BlockTransport;
import graft.remoting.server.transport.RingTransport;
import graft.remoting.server.transport.SocketTransport;
import graft.remoting.server.transport.Transport;
import graft.remoting.server.transport.UnsharedRegion;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sessions with a client of the worker's own. While a worker waits for its client, it executes
 * common calls repeatedly, so that the JIT compiler has compiled their code and the driver is warm
 * when the client connects. The warm-up leaves nothing behind but a few staging buffers.
 *
 * <p>There is a session over each of the transports that most clients use, so that no class meets
 * the compiled code for the first time in a client's session.
 */
final class WarmUp {
  private static final Logger LOG = LoggerFactory.getLogger(WarmUp.class);

  private static final int ROUNDS = 1_500;

  private static final int WANTS_REPLY = 1;
  private static final int HAS_BULK = 2;
  private static final int BYTES = 64;

  // The ids that the warm-up gives its objects, as a client would.
  private static final int CONTEXT = 1;
  private static final int MODULE = 1;
  private static final int FUNCTION = 1;
  private static final int LIBRARY = 1;
  private static final int KERNEL = 2;
  private static final int STREAM = 1;
  private static final int EVENT = 1;
  private static final int DEVICE = 0;
  private static final int READ = 1;

  /** Marks a result that the client wants. */
  private static final int WANTED = 1;

  /** The room for the snapshot of a device. */
  private static final int SNAPSHOT = 4096;

  /** As many attributes of a function as a client asks for. */
  private static final int ATTRIBUTES = 24;

  private static final int NON_BLOCKING = 1; // CU_STREAM_NON_BLOCKING
  private static final int NO_TIMING = 2; // CU_EVENT_DISABLE_TIMING

  /** A kernel that does nothing. */
  private static final String PTX =
      ".version 6.4\n.target sm_50\n.address_size 64\n.visible .entry nothing(.param .u64 x)\n{\n  ret;\n}\n\0";

  private final PretendingDevice device;
  private final int spinMicros;
  private final BooleanSupplier goOn;
  private int slot;
  private int context;

  /**
   * Creates the warm-up.
   *
   * @param spinMicros how long a session will poll
   * @param goOn returns false as soon as a client has connected
   */
  WarmUp(PretendingDevice device, int spinMicros, BooleanSupplier goOn) {
    this.device = device;
    this.spinMicros = spinMicros;
    this.goOn = goOn;
  }

  /**
   * Runs until the warm-up is complete or a client has connected. No thread may have a current
   * context.
   */
  void run() {
    try (Scratch out = new Scratch(16)) {
      int result = device.cuDevicePrimaryCtxRetain(out.address(), 0);
      if (result != CudaResult.SUCCESS) {
        return;
      }
      device.cuCtxSetCurrent(Memory.getLong(out.address()));
      result = device.cuMemAlloc_v2(out.address() + 8, BYTES);
      if (result == CudaResult.SUCCESS) {
        long memory = Memory.getLong(out.address() + 8);
        overRings(memory);
        if (goOn.getAsBoolean()) {
          overSocket(memory);
        }
        device.cuMemFree_v2(memory);
      }
      device.cuCtxSetCurrent(0);
      device.cuDevicePrimaryCtxRelease_v2(0);
    } catch (IOException | RuntimeException e) {
      // If the error matters, the client's session will report it.
      LOG.debug("the warm-up ended early: {}", e.toString());
    } finally {
      device.pretend(false);
    }
  }

  private void overRings(long memory) throws IOException {
    try (UnsharedRegion region = new UnsharedRegion();
        Scratch rings = new Scratch(RingTransport.SMALL)) {
      List<NativeSocket> bells = NativeSocket.pair("the warm-up");
      List<Transport> ends = RingTransport.pair(bells, rings.address(), region);
      execute(ends.get(0), ends.get(1), memory, OptionalLong.of(region.address()));
    }
  }

  private void overSocket(long memory) throws IOException {
    List<NativeSocket> ends = NativeSocket.streamPair("the warm-up");
    Transport session = BlockTransport.of(ends.get(0));
    execute(session, new SocketTransport(ends.get(1)), memory, OptionalLong.empty());
  }

  /**
   * Executes a session.
   *
   * @param host the address of the memory that the session shares with its client, if it does
   */
  private void execute(Transport transport, Transport end, long memory, OptionalLong host)
      throws IOException {
    WarmUpClient client = new WarmUpClient(end, goOn);
    slot = 0;
    context = 0;
    List<byte[]> opening = opening(host.isPresent());
    List<byte[]> round = new ArrayList<>(round(memory));
    host.ifPresent(address -> round.addAll(copies(memory, address)));
    List<byte[]> closing = closing(host.isPresent());
    AtomicReference<Exception> failure = new AtomicReference<>();
    Thread thread =
        new Thread(
            () -> {
              try {
                client.run(opening, ROUNDS, round, closing);
              } catch (IOException | RuntimeException e) {
                failure.set(e);
              }
            },
            "graft-warm-up");
    thread.setDaemon(true);
    thread.start();
    try (StreamChannel channel = new StreamChannel(transport, spinMicros)) {
      Session session =
          new Session(
              device, channel, SessionTerms.unlimited(spinMicros), 0, false, GpuDirect.none());
      session.lend(memory, BYTES);
      long record;
      while ((record = channel.nextRecord()) != 0) {
        device.pretend(client.pretends());
        session.execute(record);
      }
    } finally {
      device.pretend(false);
      await(thread); // which uses the rings until it finds the session's end closed
    }
    if (failure.get() != null) {
      throw new IOException(failure.get());
    }
    device.cuCtxSynchronize();
  }

  private static void await(Thread thread) {
    try {
      thread.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  // Each element is what a client sends before it waits: records of which the last wants a reply.

  private List<byte[]> opening(boolean sharesMemory) {
    byte[] image = PTX.getBytes(StandardCharsets.US_ASCII);
    List<byte[]> lines = new ArrayList<>();
    lines.add(line(out -> record(out, "graftSnapshot", WANTS_REPLY, DEVICE, WANTED, SNAPSHOT)));
    lines.add(
        line(out -> record(out, "graftPrimaryContextRetain", WANTS_REPLY, CONTEXT, DEVICE, 0)));
    context = CONTEXT;
    lines.add(
        line(
            out -> {
              int flags = WANTS_REPLY | HAS_BULK;
              record(out, "graftModuleLoad", flags, MODULE, image.length, 0, 0, 0, 0, 0);
              out.put(image);
            }));
    lines.add(line(out -> find(out, "graftModuleGetFunction_v2", FUNCTION, MODULE)));
    lines.add(
        line(
            out -> {
              record(out, "graftLibraryLoad", WANTS_REPLY | HAS_BULK, LIBRARY, image.length);
              out.put(image);
            }));
    lines.add(line(out -> find(out, "graftLibraryGetKernel_v2", KERNEL, LIBRARY)));
    if (sharesMemory) {
      lines.add(line(out -> record(out, "graftRegionMap", WANTS_REPLY, 0, UnsharedRegion.BYTES)));
    }
    lines.add(
        line(
            out -> {
              record(out, "cuStreamCreate", 0, STREAM, NON_BLOCKING);
              record(out, "cuEventCreate", 0, EVENT, NO_TIMING);
              record(out, "cuStreamQuery", WANTS_REPLY, STREAM);
            }));
    return lines;
  }

  /** Finds the kernel in the module or library {@code owner}, with its attributes. */
  private void find(ByteBuffer out, String function, long id, long owner) {
    byte[] name = "nothing\0".getBytes(StandardCharsets.US_ASCII);
    long word = ByteBuffer.wrap(name).order(ByteOrder.LITTLE_ENDIAN).getLong();
    record(
        out,
        function,
        WANTS_REPLY,
        id,
        owner,
        name.length,
        word,
        WANTED,
        0,
        0,
        WANTED,
        WANTED,
        ATTRIBUTES);
  }

  private List<byte[]> round(long memory) {
    return List.of(
        line(
            out -> {
              launch(out);
              launch(out);
              record(out, "cuStreamSynchronize", WANTS_REPLY, STREAM);
            }),
        line(
            out -> {
              record(out, "graftWrite", HAS_BULK, memory, BYTES, STREAM);
              out.put(new byte[BYTES]);
              record(out, "graftRead", WANTS_REPLY, memory, BYTES, STREAM);
            }),
        line(
            out -> {
              record(out, "graftReadAsync", 0, memory, BYTES, STREAM, READ);
              record(out, "cuStreamSynchronize", WANTS_REPLY, STREAM);
            }),
        line(out -> record(out, "cuMemAlloc_v2", WANTS_REPLY, WANTED, BYTES)),
        line(
            out -> {
              record(out, "cuMemFree_v2", 0, WarmUpClient.LAST_RESULT);
              record(out, "cuMemAlloc_v2", WANTS_REPLY, WANTED, BYTES);
            }),
        line(
            out -> {
              record(out, "cuMemFree_v2", 0, WarmUpClient.LAST_RESULT);
              record(out, "cuMemGetInfo_v2", WANTS_REPLY, WANTED, WANTED);
            }),
        line(
            out -> {
              record(out, "cuEventRecord", 0, EVENT, STREAM);
              record(out, "cuEventSynchronize", WANTS_REPLY, EVENT);
            }),
        line(
            out -> {
              record(out, "cuMemsetD8Async", 0, memory, 0, BYTES, STREAM);
              record(out, "graftContextSynchronize", WANTS_REPLY);
            }));
  }

  /** Copies from the memory that the session shares with its client, and to it. */
  private List<byte[]> copies(long memory, long host) {
    return List.of(
        line(
            out -> {
              record(out, "graftCopyFromRegion", 0, memory, host, BYTES, STREAM);
              record(out, "cuStreamSynchronize", WANTS_REPLY, STREAM);
            }),
        line(
            out -> {
              record(out, "graftCopyToRegion", 0, host, memory, BYTES, STREAM);
              record(out, "cuStreamSynchronize", WANTS_REPLY, STREAM);
            }));
  }

  private List<byte[]> closing(boolean sharesMemory) {
    return List.of(
        line(
            out -> {
              record(out, "cuEventDestroy_v2", 0, EVENT);
              record(out, "cuStreamDestroy_v2", 0, STREAM);
              record(out, "cuModuleUnload", 0, MODULE);
              record(out, "cuLibraryUnload", 0, LIBRARY);
              if (sharesMemory) {
                record(out, "graftRegionUnmap", 0, 0, UnsharedRegion.BYTES);
              }
              record(out, "graftPrimaryContextRelease", WANTS_REPLY, CONTEXT, DEVICE, 0);
            }));
  }

  /** Writes the launch of one block of one thread, with a parameter of eight bytes. */
  private void launch(ByteBuffer out) {
    long grid = 1;
    long block = 1;
    long sharedBytes = 0;
    long parameter = 0;
    record(
        out,
        "graftLaunch",
        0,
        FUNCTION,
        grid,
        grid,
        grid,
        block,
        block,
        block,
        sharedBytes,
        STREAM,
        Long.BYTES,
        parameter,
        Long.BYTES);
  }

  private static byte[] line(Consumer<ByteBuffer> records) {
    ByteBuffer out = ByteBuffer.wrap(new byte[WarmUpClient.LONGEST]).order(ByteOrder.LITTLE_ENDIAN);
    records.accept(out);
    byte[] bytes = new byte[out.position()];
    out.get(0, bytes);
    return bytes;
  }

  private void record(ByteBuffer out, String function, int flags, long... words) {
    out.putInt(Channel.RECORD_HEADER + 8 * words.length)
        .putShort((short) Dispatcher.number(function))
        .putShort((short) flags)
        .putInt(++slot)
        .putInt(context);
    for (long word : words) {
      out.putLong(word);
    }
  }
}

package graft.remoting.software;

import static graft.remoting.software.memory.Native.UNSAFE;
import static graft.remoting.software.object.CallerMemory.putInt;
import static graft.remoting.software.object.CallerMemory.putLong;
import static graft.remoting.software.object.CallerMemory.require;
import static graft.remoting.software.object.Contexts.checkError;

import graft.remoting.device.CudaResult;
import graft.remoting.device.StreamApi;
import graft.remoting.software.memory.Native;
import graft.remoting.software.object.Captures;
import graft.remoting.software.object.Contexts;
import graft.remoting.software.object.CudaException;
import graft.remoting.software.object.Event;
import graft.remoting.software.object.GraphNode;
import graft.remoting.software.object.Handles;
import graft.remoting.software.object.HostCall;
import graft.remoting.software.object.Stream;
import graft.remoting.software.object.Streams;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;

/** CUDA driver API: "Stream Management", "Stream Memory Operations". */
final class StreamFunctions implements StreamApi {
  private static final int ATTRIBUTE_BYTES = 64;

  private final Calls calls;
  private final Handles handles;
  private final Contexts contexts;
  private final Streams streams;
  private final Captures captures;
  private final Ranges ranges;
  private final Map<Stream, Map<Integer, byte[]>> streamAttributes = new ConcurrentHashMap<>();

  StreamFunctions(
      Calls calls,
      Handles handles,
      Contexts contexts,
      Streams streams,
      Captures captures,
      Ranges ranges) {
    this.calls = calls;
    this.handles = handles;
    this.contexts = contexts;
    this.streams = streams;
    this.captures = captures;
    this.ranges = ranges;
  }

  @Override
  public int cuStreamCreate(long stream, int flags) {
    return cuStreamCreateWithPriority(stream, flags, 0);
  }

  @Override
  public int cuStreamCreateWithPriority(long stream, int flags, int priority) {
    return calls.run(
        () -> {
          require((flags & ~Stream.NON_BLOCKING) == 0, "unknown stream flags");
          Stream made = contexts.current().addStream(flags, Math.max(-5, Math.min(0, priority)));
          made.setHandle(handles.add(made));
          putLong(stream, made.handle());
        });
  }

  @Override
  public int cuStreamDestroy_v2(long stream) {
    return calls.run(
        () -> {
          Stream gone = handles.get(stream, Stream.class);
          handles.remove(stream);
          streamAttributes.remove(gone);
          gone.context().removeStream(gone);
        });
  }

  @Override
  public int cuStreamSynchronize(long stream) {
    return calls.run(
        () -> {
          Stream s = streams.get(stream);
          requireNoCapture(s);
          s.context().refuseImplicitDependency(s);
          s.context().awaitStream(s);
          checkError(s.context());
        });
  }

  private static void requireNoCapture(Stream s) {
    if (s.capture() != null) {
      s.capture().invalidate();
      throw new CudaException(CudaResult.STREAM_CAPTURE_UNSUPPORTED, "the stream is capturing");
    }
  }

  @Override
  public int cuStreamQuery(long stream) {
    return calls.run(
        () -> {
          Stream s = streams.get(stream);
          requireNoCapture(s);
          s.context().refuseImplicitDependency(s);
          if (!s.context().isIdle(s)) {
            throw new CudaException(CudaResult.NOT_READY, "work is not done yet");
          }
          checkError(s.context());
        });
  }

  @Override
  public int cuStreamWaitEvent(long stream, long event, int flags) {
    return calls.run(
        () -> {
          Stream s = streams.get(stream);
          Event e = handles.get(event, Event.class);
          s.context().refuseImplicitDependency(s);
          if (e.captured() != null) {
            GraphNode node = e.captured();
            if (s.capture() == null) {
              s.setCapture(captures.of(node.graph()).join(node));
            } else {
              s.capture().frontier().add(node);
            }
          } else if (s.capture() == null) {
            e.holdUp(s);
          }
        });
  }

  @Override
  public int cuStreamGetFlags(long stream, long flags) {
    return calls.run(() -> putInt(flags, streams.get(stream).flags()));
  }

  @Override
  public int cuStreamGetPriority(long stream, long priority) {
    return calls.run(() -> putInt(priority, streams.get(stream).priority()));
  }

  @Override
  public int cuStreamGetId(long stream, long id) {
    return calls.run(() -> putLong(id, streams.get(stream).id()));
  }

  @Override
  public int cuStreamGetCtx(long stream, long context) {
    return calls.run(() -> putLong(context, streams.get(stream).context().handle()));
  }

  @Override
  public int cuStreamGetDevice(long stream, long device) {
    return calls.run(() -> putInt(device, streams.get(stream).context().gpu().ordinal()));
  }

  @Override
  public int cuStreamSetAttribute(long stream, int attribute, long value) {
    return calls.run(
        () ->
            streamAttributes
                .computeIfAbsent(streams.get(stream), s -> new ConcurrentHashMap<>())
                .put(attribute, Native.bytes(value, ATTRIBUTE_BYTES)));
  }

  @Override
  public int cuStreamGetAttribute(long stream, int attribute, long value) {
    return calls.run(
        () -> {
          byte[] found =
              streamAttributes
                  .getOrDefault(streams.get(stream), Map.of())
                  .getOrDefault(attribute, new byte[ATTRIBUTE_BYTES]);
          Native.put(value, found, found.length);
        });
  }

  @Override
  public int cuStreamCopyAttributes(long to, long from) {
    return calls.run(
        () ->
            streamAttributes.put(
                streams.get(to),
                new ConcurrentHashMap<>(
                    streamAttributes.getOrDefault(streams.get(from), Map.of()))));
  }

  private void onWord(long stream, long address, int bytes, Runnable body) {
    require(
        (address & (bytes - 1)) == 0 && contexts.memory().contains(address, bytes),
        "no device memory, or not aligned");
    streams.submit(
        streams.get(stream), GraphNode.Type.EMPTY, ranges.onlyWhileKnown(address, bytes, body));
  }

  @Override
  public int cuStreamWriteValue32_v2(long stream, long address, int value, int flags) {
    return calls.run(
        () -> {
          onWord(stream, address, 4, () -> UNSAFE.putIntVolatile(null, address, value));
        });
  }

  @Override
  public int cuStreamWriteValue64_v2(long stream, long address, long value, int flags) {
    return calls.run(
        () -> {
          onWord(stream, address, 8, () -> UNSAFE.putLongVolatile(null, address, value));
        });
  }

  private static boolean holds(long found, long wanted, int flags) {
    return switch (flags & 3) {
      case 0 -> found - wanted >= 0;
      case 1 -> found == wanted;
      case 2 -> (found & wanted) != 0;
      default -> ~(found | wanted) != 0;
    };
  }

  @Override
  public int cuStreamWaitValue32_v2(long stream, long address, int value, int flags) {
    return calls.run(
        () -> {
          onWord(
              stream,
              address,
              4,
              () -> {
                while (!holds32(UNSAFE.getIntVolatile(null, address), value, flags)) {
                  LockSupport.parkNanos(20_000);
                }
              });
        });
  }

  private static boolean holds32(int found, int wanted, int flags) {
    return switch (flags & 3) {
      case 0 -> found - wanted >= 0;
      case 3 -> ~(found | wanted) != 0;
      default -> holds(found, wanted, flags);
    };
  }

  @Override
  public int cuStreamWaitValue64_v2(long stream, long address, long value, int flags) {
    return calls.run(
        () -> {
          onWord(
              stream,
              address,
              8,
              () -> {
                while (!holds(UNSAFE.getLongVolatile(null, address), value, flags)) {
                  LockSupport.parkNanos(20_000);
                }
              });
        });
  }

  /** Adds a callback. It is called even if the context has failed, with the error as its status. */
  @Override
  public int cuStreamAddCallback(long stream, long callback, long userData, int flags) {
    return calls.run(
        () -> {
          require(callback != 0 && flags == 0, "no callback");
          Stream s = streams.get(stream);
          streams.submit(
              s,
              GraphNode.Type.HOST,
              () -> HostCall.runCallback(callback, stream, s.context().error(), userData));
        });
  }
}

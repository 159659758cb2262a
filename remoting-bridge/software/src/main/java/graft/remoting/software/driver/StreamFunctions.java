package graft.remoting.software.driver;

import graft.remoting.device.CudaResult;
import graft.remoting.software.SoftwareDeviceConfig;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;

/** CUDA driver API: "Stream Management", "Event Management", "Stream Memory Operations". */
abstract class StreamFunctions extends CopyFunctions {
  private final ThreadLocal<Integer> captureMode = ThreadLocal.withInitial(() -> 0);
  private final Map<Stream, Map<Integer, byte[]>> streamAttributes = new ConcurrentHashMap<>();

  StreamFunctions(SoftwareDeviceConfig config) {
    super(config);
  }

  // ---- streams

  @Override
  public int cuStreamCreate(long stream, int flags) {
    return cuStreamCreateWithPriority(stream, flags, 0);
  }

  @Override
  public int cuStreamCreateWithPriority(long stream, int flags, int priority) {
    return call(
        () -> {
          require((flags & ~Stream.NON_BLOCKING) == 0, "unknown stream flags");
          Stream made = context().addStream(flags, Math.max(-5, Math.min(0, priority)));
          made.setHandle(handles().add(made));
          putLong(stream, made.handle());
        });
  }

  @Override
  public int cuStreamDestroy_v2(long stream) {
    return call(
        () -> {
          Stream gone = handles().get(stream, Stream.class);
          handles().remove(stream);
          streamAttributes.remove(gone);
          gone.context().removeStream(gone);
        });
  }

  @Override
  public int cuStreamSynchronize(long stream) {
    return call(
        () -> {
          Stream s = stream(stream);
          requireNoCapture(s);
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
    return call(
        () -> {
          Stream s = stream(stream);
          requireNoCapture(s);
          if (!s.context().isIdle(s)) {
            throw new CudaException(CudaResult.NOT_READY, "work is not done yet");
          }
          checkError(s.context());
        });
  }

  @Override
  public int cuStreamWaitEvent(long stream, long event, int flags) {
    return call(
        () -> {
          Stream s = stream(stream);
          Event e = handles().get(event, Event.class);
          if (e.captured() != null) {
            GraphNode node = e.captured();
            if (s.capture() == null) {
              s.setCapture(captureOf(node.graph()).join(node));
            } else {
              s.capture().frontier().add(node);
            }
          } else if (s.capture() == null) {
            e.holdUp(s);
          }
        });
  }

  private final Map<Graph, Capture> captures = new ConcurrentHashMap<>();

  private Capture captureOf(Graph graph) {
    Capture found = captures.get(graph);
    if (found == null) {
      throw new CudaException(CudaResult.ILLEGAL_STATE, "the event's capture has ended");
    }
    return found;
  }

  @Override
  public int cuStreamGetFlags(long stream, long flags) {
    return call(() -> putInt(flags, stream(stream).flags()));
  }

  @Override
  public int cuStreamGetPriority(long stream, long priority) {
    return call(() -> putInt(priority, stream(stream).priority()));
  }

  @Override
  public int cuStreamGetId(long stream, long id) {
    return call(() -> putLong(id, stream(stream).id()));
  }

  @Override
  public int cuStreamGetCtx(long stream, long context) {
    return call(() -> putLong(context, stream(stream).context().handle()));
  }

  @Override
  public int cuStreamGetDevice(long stream, long device) {
    return call(() -> putInt(device, stream(stream).context().gpu().ordinal()));
  }

  private static final int ATTRIBUTE_BYTES = 64;

  @Override
  public int cuStreamSetAttribute(long stream, int attribute, long value) {
    return call(
        () ->
            streamAttributes
                .computeIfAbsent(stream(stream), s -> new ConcurrentHashMap<>())
                .put(
                    attribute,
                    graft.remoting.software.memory.Native.bytes(value, ATTRIBUTE_BYTES)));
  }

  @Override
  public int cuStreamGetAttribute(long stream, int attribute, long value) {
    return call(
        () -> {
          byte[] found =
              streamAttributes
                  .getOrDefault(stream(stream), Map.of())
                  .getOrDefault(attribute, new byte[ATTRIBUTE_BYTES]);
          graft.remoting.software.memory.Native.put(value, found, found.length);
        });
  }

  @Override
  public int cuStreamCopyAttributes(long to, long from) {
    return call(
        () ->
            streamAttributes.put(
                stream(to),
                new ConcurrentHashMap<>(streamAttributes.getOrDefault(stream(from), Map.of()))));
  }

  // ---- memory operations

  private void onWord(long stream, long address, int bytes, Runnable body) {
    require(
        (address & (bytes - 1)) == 0 && memory().contains(address, bytes),
        "no device memory, or not aligned");
    submit(stream(stream), GraphNode.Type.EMPTY, onlyWhileKnown(address, bytes, body));
  }

  @Override
  public int cuStreamWriteValue32_v2(long stream, long address, int value, int flags) {
    return call(
        () -> {
          onWord(stream, address, 4, () -> UNSAFE.putIntVolatile(null, address, value));
        });
  }

  @Override
  public int cuStreamWriteValue64_v2(long stream, long address, long value, int flags) {
    return call(
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
    return call(
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
    return call(
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

  // ---- capture

  @Override
  public int cuStreamBeginCapture_v2(long stream, int mode) {
    return call(
        () -> {
          Stream s = stream(stream);
          if (stream == 0 || stream == 1) {
            throw new CudaException(
                CudaResult.STREAM_CAPTURE_UNSUPPORTED, "the legacy stream cannot be captured");
          }
          if (s.capture() != null) {
            throw new CudaException(CudaResult.ILLEGAL_STATE, "the stream is capturing");
          }
          Capture capture = new Capture(new Graph(), s);
          captures.put(capture.graph(), capture);
          s.setCapture(capture);
        });
  }

  @Override
  public int cuStreamEndCapture(long stream, long graph) {
    return call(
        () -> {
          Stream s = stream(stream);
          Capture capture = s.capture();
          if (capture == null || capture.origin() != s) {
            throw new CudaException(CudaResult.ILLEGAL_STATE, "no capture began here");
          }
          captures.remove(capture.graph());
          for (Stream other : handles().all(Stream.class)) {
            if (other.capture() != null && other.capture().graph() == capture.graph()) {
              other.setCapture(null);
            }
          }
          s.setCapture(null);
          if (capture.isInvalid()) {
            putLong(graph, 0);
            throw new CudaException(
                CudaResult.STREAM_CAPTURE_INVALIDATED, "the capture is invalid");
          }
          putLong(graph, handles().handleOf(capture.graph()));
        });
  }

  @Override
  public int cuStreamIsCapturing(long stream, long status) {
    return call(() -> putInt(status, status(stream(stream))));
  }

  /** CUstreamCaptureStatus. */
  private static int status(Stream s) {
    return s.capture() == null ? 0 : s.capture().isInvalid() ? 2 : 1;
  }

  @Override
  public int cuStreamGetCaptureInfo(long stream, long status, long id) {
    return cuStreamGetCaptureInfo_v2(stream, status, id, 0, 0, 0);
  }

  @Override
  public int cuStreamGetCaptureInfo_v2(
      long stream, long status, long id, long graph, long dependencies, long count) {
    return call(
        () -> {
          Stream s = stream(stream);
          putInt(status, status(s));
          if (s.capture() == null) {
            return;
          }
          if (id != 0) {
            putLong(id, s.capture().id());
          }
          if (graph != 0) {
            putLong(graph, handles().handleOf(s.capture().graph()));
          }
          if (count != 0) {
            putLong(count, s.capture().frontier().size());
          }
          if (dependencies != 0) {
            putLong(dependencies, dependencyArray(s.capture()));
          }
        });
  }

  /** The handles of the frontier, in memory that lives as long as the process, as CUDA's does. */
  private static long dependencyArray(Capture capture) {
    long array = UNSAFE.allocateMemory(8L * (capture.frontier().size() + 1));
    int i = 0;
    for (GraphNode node : capture.frontier()) {
      UNSAFE.putLong(array + 8L * i++, node.handle());
    }
    return array;
  }

  @Override
  public int cuStreamGetCaptureInfo_v3(
      long stream, long status, long id, long graph, long dependencies, long edges, long count) {
    if (edges != 0) {
      UNSAFE.putLong(edges, 0);
    }
    return cuStreamGetCaptureInfo_v2(stream, status, id, graph, dependencies, count);
  }

  @Override
  public int cuThreadExchangeStreamCaptureMode(long mode) {
    return call(
        () -> {
          int before = captureMode.get();
          captureMode.set(UNSAFE.getInt(mode));
          putInt(mode, before);
        });
  }

  // ---- events

  @Override
  public int cuEventCreate(long event, int flags) {
    return call(() -> putLong(event, handles().add(new Event(context(), flags))));
  }

  @Override
  public int cuEventDestroy_v2(long event) {
    return call(
        () -> {
          handles().get(event, Event.class);
          handles().remove(event);
        });
  }

  @Override
  public int cuEventRecord(long event, long stream) {
    return call(
        () -> {
          Event e = handles().get(event, Event.class);
          Stream s = stream(stream);
          if (s.capture() != null) {
            submit(s, GraphNode.Type.EMPTY, () -> {});
            e.capture(s.capture().frontier().iterator().next());
          } else {
            e.record(s);
          }
        });
  }

  @Override
  public int cuEventRecordWithFlags(long event, long stream, int flags) {
    return cuEventRecord(event, stream);
  }

  @Override
  public int cuEventQuery(long event) {
    return call(
        () -> {
          Event e = handles().get(event, Event.class);
          if (!e.hasHappened()) {
            throw new CudaException(CudaResult.NOT_READY, "the event has not happened yet");
          }
          checkError(e.context());
        });
  }

  @Override
  public int cuEventSynchronize(long event) {
    return call(
        () -> {
          Event e = handles().get(event, Event.class);
          e.await();
          checkError(e.context());
        });
  }

  @Override
  public int cuEventElapsedTime(long milliseconds, long start, long end) {
    return call(
        () -> {
          Event a = handles().get(start, Event.class);
          Event b = handles().get(end, Event.class);
          if (a.task() == null || b.task() == null || !a.hasTiming() || !b.hasTiming()) {
            throw new CudaException(
                CudaResult.INVALID_HANDLE, "an event was not recorded or has no timing");
          }
          checkError(a.context());
          if (!a.task().isDone() || !b.task().isDone()) {
            throw new CudaException(CudaResult.NOT_READY, "an event has not happened yet");
          }
          require(milliseconds != 0, "null pointer for a result");
          UNSAFE.putFloat(milliseconds, (b.task().endNanos() - a.task().endNanos()) / 1_000_000f);
        });
  }

  @Override
  public int cuEventElapsedTime_v2(long milliseconds, long start, long end) {
    return cuEventElapsedTime(milliseconds, start, end);
  }
}

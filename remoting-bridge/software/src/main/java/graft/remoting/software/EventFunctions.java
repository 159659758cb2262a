package graft.remoting.software;

import static graft.remoting.software.memory.Native.UNSAFE;
import static graft.remoting.software.object.CallerMemory.putLong;
import static graft.remoting.software.object.CallerMemory.require;
import static graft.remoting.software.object.Contexts.checkError;

import graft.remoting.device.CudaResult;
import graft.remoting.device.EventApi;
import graft.remoting.software.object.Contexts;
import graft.remoting.software.object.CudaException;
import graft.remoting.software.object.Event;
import graft.remoting.software.object.GraphNode;
import graft.remoting.software.object.Handles;
import graft.remoting.software.object.Stream;
import graft.remoting.software.object.Streams;

/** CUDA driver API: "Event Management". */
final class EventFunctions implements EventApi {
  private final Calls calls;
  private final Handles handles;
  private final Contexts contexts;
  private final Streams streams;

  EventFunctions(Calls calls, Handles handles, Contexts contexts, Streams streams) {
    this.calls = calls;
    this.handles = handles;
    this.contexts = contexts;
    this.streams = streams;
  }

  @Override
  public int cuEventCreate(long event, int flags) {
    return calls.run(() -> putLong(event, handles.add(new Event(contexts.current(), flags))));
  }

  @Override
  public int cuEventDestroy_v2(long event) {
    return calls.run(
        () -> {
          handles.get(event, Event.class);
          handles.remove(event);
        });
  }

  @Override
  public int cuEventRecord(long event, long stream) {
    return calls.run(
        () -> {
          Event e = handles.get(event, Event.class);
          Stream s = streams.get(stream);
          if (s.capture() != null) {
            streams.submit(s, GraphNode.Type.EMPTY, () -> {});
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
    return calls.run(
        () -> {
          Event e = handles.get(event, Event.class);
          if (!e.hasHappened()) {
            throw new CudaException(CudaResult.NOT_READY, "the event has not happened yet");
          }
          checkError(e.context());
        });
  }

  @Override
  public int cuEventSynchronize(long event) {
    return calls.run(
        () -> {
          Event e = handles.get(event, Event.class);
          e.await();
          checkError(e.context());
        });
  }

  @Override
  public int cuEventElapsedTime(long milliseconds, long start, long end) {
    return calls.run(
        () -> {
          Event a = handles.get(start, Event.class);
          Event b = handles.get(end, Event.class);
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

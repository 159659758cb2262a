package graft.remoting.software;

import static graft.remoting.software.memory.Native.UNSAFE;
import static graft.remoting.software.object.CallerMemory.putInt;
import static graft.remoting.software.object.CallerMemory.putLong;
import static graft.remoting.software.object.CallerMemory.require;

import graft.remoting.device.CaptureApi;
import graft.remoting.device.CudaResult;
import graft.remoting.software.object.Capture;
import graft.remoting.software.object.Captures;
import graft.remoting.software.object.CudaException;
import graft.remoting.software.object.Graph;
import graft.remoting.software.object.GraphNode;
import graft.remoting.software.object.Handles;
import graft.remoting.software.object.Stream;
import graft.remoting.software.object.Streams;
import java.util.List;

/** CUDA driver API: captures of "Stream Management". */
final class CaptureFunctions implements CaptureApi {
  /** CU_STREAM_SET_CAPTURE_DEPENDENCIES. */
  private static final int SET_DEPENDENCIES = 1;

  private final Calls calls;
  private final Handles handles;
  private final Streams streams;
  private final Captures captures;
  private final ThreadLocal<Integer> captureMode = ThreadLocal.withInitial(() -> 0);

  CaptureFunctions(Calls calls, Handles handles, Streams streams, Captures captures) {
    this.calls = calls;
    this.handles = handles;
    this.streams = streams;
    this.captures = captures;
  }

  private Capture begin(long stream, Graph graph) {
    Stream s = streams.get(stream);
    if (stream == 0 || stream == 1) {
      throw new CudaException(
          CudaResult.STREAM_CAPTURE_UNSUPPORTED, "the legacy stream cannot be captured");
    }
    if (s.capture() != null) {
      throw new CudaException(CudaResult.ILLEGAL_STATE, "the stream is capturing");
    }
    return captures.begin(s, graph);
  }

  @Override
  public int cuStreamBeginCapture_v2(long stream, int mode) {
    return calls.run(() -> begin(stream, new Graph()));
  }

  @Override
  public int cuStreamBeginCaptureToGraph(
      long stream, long graph, long dependencies, long edges, long count, int mode) {
    return calls.run(
        () -> {
          Graph g = handles.get(graph, Graph.class);
          List<GraphNode> before = nodes(g, dependencies, count);
          begin(stream, g).frontier().addAll(before);
        });
  }

  private List<GraphNode> nodes(Graph graph, long array, long count) {
    List<GraphNode> nodes = handles.get(array, count, GraphNode.class);
    require(nodes.stream().allMatch(node -> node.graph() == graph), "a node of another graph");
    return nodes;
  }

  @Override
  public int cuStreamUpdateCaptureDependencies(
      long stream, long dependencies, long count, int flags) {
    return cuStreamUpdateCaptureDependencies_v2(stream, dependencies, 0, count, flags);
  }

  @Override
  public int cuStreamUpdateCaptureDependencies_v2(
      long stream, long dependencies, long edges, long count, int flags) {
    return calls.run(
        () -> {
          require(flags == 0 || flags == SET_DEPENDENCIES, "unknown flags");
          Capture capture = streams.get(stream).capture();
          if (capture == null) {
            throw new CudaException(CudaResult.ILLEGAL_STATE, "the stream is not capturing");
          }
          List<GraphNode> next = nodes(capture.graph(), dependencies, count);
          if (flags == SET_DEPENDENCIES) {
            capture.frontier().clear();
          }
          capture.frontier().addAll(next);
        });
  }

  @Override
  public int cuStreamEndCapture(long stream, long graph) {
    return calls.run(
        () -> {
          Stream s = streams.get(stream);
          Capture capture = s.capture();
          if (capture == null || capture.origin() != s) {
            throw new CudaException(CudaResult.ILLEGAL_STATE, "no capture began here");
          }
          captures.end(capture);
          for (Stream other : handles.all(Stream.class)) {
            if (other.capture() != null && other.capture().graph() == capture.graph()) {
              other.setCapture(null);
            }
          }
          s.setCapture(null);
          if (capture.isInvalid()) {
            if (graph != 0) {
              putLong(graph, 0);
            }
            throw new CudaException(
                CudaResult.STREAM_CAPTURE_INVALIDATED, "the capture is invalid");
          }
          if (graph != 0) {
            putLong(graph, handles.handleOf(capture.graph()));
          }
        });
  }

  @Override
  public int cuStreamIsCapturing(long stream, long status) {
    return calls.run(() -> putInt(status, status(inquired(stream))));
  }

  /** Returns a stream that the program may ask about. */
  private Stream inquired(long handle) {
    Stream stream = streams.get(handle);
    stream.context().refuseUnknownCapture(stream);
    return stream;
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
    return calls.run(
        () -> {
          Stream s = inquired(stream);
          putInt(status, status(s));
          if (s.capture() == null) {
            return;
          }
          if (id != 0) {
            putLong(id, s.capture().id());
          }
          if (graph != 0) {
            putLong(graph, handles.handleOf(s.capture().graph()));
          }
          if (count != 0) {
            putLong(count, s.capture().frontier().size());
          }
          if (dependencies != 0) {
            putLong(dependencies, dependencyArray(s.capture()));
          }
        });
  }

  /** Returns the handles of the frontier in memory that is never freed, as in CUDA's driver. */
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
    return calls.run(
        () -> {
          int before = captureMode.get();
          captureMode.set(UNSAFE.getInt(mode));
          putInt(mode, before);
        });
  }
}

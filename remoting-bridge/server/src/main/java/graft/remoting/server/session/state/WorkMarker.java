package graft.remoting.server.session.state;

/** An event behind work of a stream, by which {@link GpuMeter} finds out when it has finished. */
final class WorkMarker {
  final SessionContext context;
  final long event;

  /** When it was recorded, by {@link System#nanoTime}. */
  final long began;

  /** The engines of the work that ends with it, by their bits. */
  int engines;

  /** The stream; -1 after the stream was destroyed. */
  long stream;

  WorkMarker(SessionContext context, long stream, int engines, long event, long began) {
    this.context = context;
    this.stream = stream;
    this.engines = engines;
    this.event = event;
    this.began = began;
  }
}

package graft.remoting.binding;

/** One way from Java to {@code libcuda.so.1}, with the three calls of the server's hot path. */
interface Binding {
  /** {@code cuLaunchKernel} with four parameters. */
  int launch();

  /** {@code cuMemcpyHtoDAsync} of a page. */
  int copy();

  /** {@code cuStreamQuery}. */
  int query();

  /** The binding of this name; {@code ffm} and {@code critical} need Java 22. */
  static Binding named(String name) throws ReflectiveOperationException {
    return switch (name) {
      case "jna" -> new JnaBinding();
      case "jcuda" -> new JCudaBinding();
      case "ffm", "critical" ->
          Class.forName("graft.remoting.binding.FfmBinding")
              .asSubclass(Binding.class)
              .getDeclaredConstructor()
              .newInstance();
      default -> throw new IllegalArgumentException("no binding " + name);
    };
  }
}

package graft.remoting.api;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** Writes the device interface, the base class of its decorators, and its native binding. */
final class DeviceGenerator {
  private final Description description;

  DeviceGenerator(Description description) {
    this.description = description;
  }

  private List<Function> device() {
    return description.functions().stream().filter(Function::onDevice).toList();
  }

  private static String declare(Function f) {
    return f.parameters().stream()
        .map(p -> p.java() + " " + p.name())
        .collect(Collectors.joining(", "));
  }

  private static String names(Function f) {
    return f.parameters().stream().map(Parameter::name).collect(Collectors.joining(", "));
  }

  /** Returns the texts of all functions of the device, concatenated. */
  private String each(java.util.function.Function<Function, String> text) {
    return each(device(), text);
  }

  private static String each(
      List<Function> functions, java.util.function.Function<Function, String> text) {
    return functions.stream().map(text).collect(Collectors.joining());
  }

  /** Returns the functions of the device by group, in the order of the description. */
  private Map<String, List<Function>> groups() {
    return device().stream()
        .collect(Collectors.groupingBy(Function::group, LinkedHashMap::new, Collectors.toList()));
  }

  /** Returns the groups that are interfaces of their own. */
  private Map<String, List<Function>> parts() {
    Map<String, List<Function>> parts = groups();
    parts.remove(Function.NO_GROUP);
    return parts;
  }

  /**
   * Returns the sources of {@code graft.remoting.device} by class name: one interface for each
   * group of functions, {@code CudaDevice}, which extends all of them, {@code ForwardingDevice} and
   * {@code ComposedDevice}.
   */
  Map<String, String> deviceInterfaces() {
    Map<String, String> sources = new LinkedHashMap<>();
    parts().forEach((group, functions) -> sources.put(group, part(group, functions)));
    sources.put("CudaDevice", cudaDevice());
    sources.put("ForwardingDevice", forwardingDevice());
    sources.put("ComposedDevice", composedDevice());
    return sources;
  }

  /** Returns one method for each function of the driver, with the raw types of the C interface. */
  private static String methods(List<Function> functions) {
    return each(
        functions,
        f ->
            """

              default int %s(%s) {
                return CudaResult.NOT_SUPPORTED;
              }
            """
                .formatted(f.symbol(), declare(f)));
  }

  private static String part(String group, List<Function> functions) {
    return """
        // Generated from driver.api. Do not edit.
        package graft.remoting.device;

        /** A group of functions of {@link CudaDevice}. */
        public interface %s {
        %s}
        """
        .formatted(group, methods(functions));
  }

  private String cudaDevice() {
    return """
        // Generated from driver.api. Do not edit.
        package graft.remoting.device;

        /**
         * A CUDA driver: one method for each function under its exported symbol, as the C interface
         * has it. Pointers, handles, sizes and device pointers are longs (addresses in this process),
         * the result is a CUresult. A function that a device lacks answers CUDA_ERROR_NOT_SUPPORTED.
         */
        public interface CudaDevice
            extends %s {
        %s}
        """
        .formatted(
            String.join(",\n        ", parts().keySet()),
            methods(groups().getOrDefault(Function.NO_GROUP, List.of())));
  }

  /** Returns {@code ComposedDevice}: a device that has one part for each group. */
  private String composedDevice() {
    return """
        // Generated from driver.api. Do not edit.
        package graft.remoting.device;

        /** A device that is made of parts, each of which has the functions of one group. */
        public interface ComposedDevice extends CudaDevice {
        %s}
        """
        .formatted(
            parts().entrySet().stream()
                .map(part -> forwarders(part.getKey(), part.getValue()))
                .collect(Collectors.joining()));
  }

  private static String forwarders(String group, List<Function> functions) {
    String part = Character.toLowerCase(group.charAt(0)) + group.substring(1);
    return "\n  %s %s();\n".formatted(group, part)
        + each(
            functions,
            f ->
                """

                  @Override
                  default int %1$s(%2$s) {
                    return %3$s().%1$s(%4$s);
                  }
                """
                    .formatted(f.symbol(), declare(f), part, names(f)));
  }

  /** Returns {@code ForwardingDevice}: the base class of decorators, which forwards every call. */
  private String forwardingDevice() {
    return """
        // Generated from driver.api. Do not edit.
        package graft.remoting.device;

        /** Passes every call to another device; a decorator overrides what it changes. */
        public abstract class ForwardingDevice implements CudaDevice {
          protected final CudaDevice next;

          protected ForwardingDevice(CudaDevice next) {
            this.next = next;
          }
        %s}
        """
        .formatted(
            each(
                f ->
                    """

                      @Override
                      public int %1$s(%2$s) {
                        return next.%1$s(%3$s);
                      }
                    """
                        .formatted(f.symbol(), declare(f), names(f))));
  }

  /**
   * Returns {@code graft.remoting.server.device.NativeCuda}: the functions as native methods for
   * JNA's direct mapping.
   */
  String nativeCuda() {
    return """
        // Generated from driver.api. Do not edit.
        package graft.remoting.server.device;

        /** The driver's functions as native methods; NativeDevice binds them. */
        final class NativeCuda {
          private NativeCuda() {}
        %s}
        """
        .formatted(
            each(
                f ->
                    """

                      static native int %s(%s);
                    """
                        .formatted(f.symbol(), declare(f))));
  }

  /**
   * Returns {@code graft.remoting.server.device.NativeCalls}: CudaDevice on top of NativeCuda, in
   * which a missing symbol returns CUDA_ERROR_NOT_SUPPORTED.
   */
  String nativeCalls() {
    return """
        // Generated from driver.api. Do not edit.
        package graft.remoting.server.device;

        import graft.remoting.device.CudaDevice;
        import graft.remoting.device.CudaResult;
        import java.util.function.Predicate;

        /** The real driver behind the device interface, function by function. */
        abstract class NativeCalls implements CudaDevice {
          static final String[] SYMBOLS = {
        %s  };

          private final boolean[] present;

          /**
           * Binds the functions that are there.
           *
           * @param present tells whether the driver exports a symbol
           */
          NativeCalls(Predicate<String> present) {
            this.present = new boolean[SYMBOLS.length];
            for (int i = 0; i < SYMBOLS.length; i++) {
              this.present[i] = present.test(SYMBOLS[i]);
            }
          }
        %s}
        """
        .formatted(each(f -> "    \"" + f.symbol() + "\",\n"), nativeMethods());
  }

  private String nativeMethods() {
    StringBuilder methods = new StringBuilder();
    int index = 0;
    for (Function f : device()) {
      methods.append(
          """

            @Override
            public int %1$s(%2$s) {
              return present[%3$d] ? NativeCuda.%1$s(%4$s) : CudaResult.NOT_SUPPORTED;
            }
          """
              .formatted(f.symbol(), declare(f), index++, names(f)));
    }
    return methods.toString();
  }
}

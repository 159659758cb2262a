package graft.remoting.server.device;

import com.sun.jna.Library;
import com.sun.jna.Native;
import com.sun.jna.NativeLibrary;
import com.sun.jna.Pointer;
import com.sun.jna.Structure;
import com.sun.jna.SymbolProvider;
import graft.remoting.server.system.Scratch;
import graft.remoting.server.system.ServerException;
import java.util.Map;

/**
 * The real CUDA driver, {@code libcuda.so.1}, bound by JNA direct mapping. A function that the
 * installed driver lacks returns CUDA_ERROR_NOT_SUPPORTED.
 */
public final class NativeDevice extends NativeCalls {
  private static final String LIBRARY = "libcuda.so.1";

  /**
   * A function of every driver, which is bound in the place of a missing one and never called
   * there.
   */
  private static final String ALWAYS_THERE = "cuInit";

  private final NativeLibrary library;

  private NativeDevice(NativeLibrary library) {
    super(symbol -> isThere(library, symbol));
    this.library = library;
  }

  /**
   * Loads the driver.
   *
   * @throws ServerException if there is none
   */
  public static NativeDevice load() throws ServerException {
    try {
      NativeLibrary library = NativeLibrary.getInstance(LIBRARY);
      NativeDevice device = new NativeDevice(library);
      SymbolProvider tolerant =
          (handle, symbol, parent) ->
              parent.getSymbolAddress(
                  handle, isThere(library, symbol) ? symbol : ALWAYS_THERE, parent);
      Native.register(
          NativeCuda.class,
          NativeLibrary.getInstance(LIBRARY, Map.of(Library.OPTION_SYMBOL_PROVIDER, tolerant)));
      return device;
    } catch (UnsatisfiedLinkError e) {
      throw new ServerException(
          "cannot load "
              + LIBRARY
              + ", the CUDA driver's library: install the NVIDIA driver, or put its folder into"
              + " LD_LIBRARY_PATH; without a GPU choose the device 'software' ("
              + firstLine(e.getMessage())
              + ")",
          e);
    }
  }

  /** CU_IPC_HANDLE_SIZE, driver API reference. */
  private static final int HANDLE_BYTES = 64;

  /** A handle of the driver, which takes it by value. */
  @Structure.FieldOrder("bytes")
  public static final class Handle extends Structure implements Structure.ByValue {
    /** The bytes that the driver wrote. */
    public byte[] bytes;

    /** Reads the handle at an address. */
    Handle(long address) {
      bytes = Scratch.bytesAt(address, HANDLE_BYTES);
    }
  }

  @Override
  public int cuIpcOpenMemHandle_v2(long address, long handle, int flags) {
    return library
        .getFunction("cuIpcOpenMemHandle_v2")
        .invokeInt(new Object[] {new Pointer(address), new Handle(handle), flags});
  }

  @Override
  public int cuIpcOpenEventHandle(long event, long handle) {
    return library
        .getFunction("cuIpcOpenEventHandle")
        .invokeInt(new Object[] {new Pointer(event), new Handle(handle)});
  }

  private static String firstLine(String text) {
    return text == null ? "" : text.lines().findFirst().orElse("");
  }

  private static boolean isThere(NativeLibrary library, String symbol) {
    try {
      return library.getGlobalVariableAddress(symbol) != null;
    } catch (UnsatisfiedLinkError e) {
      return false;
    }
  }
}

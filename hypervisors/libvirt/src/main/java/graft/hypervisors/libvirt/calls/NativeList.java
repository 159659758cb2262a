package graft.hypervisors.libvirt.calls;

import com.sun.jna.Native;
import com.sun.jna.Pointer;
import com.sun.jna.PointerType;
import com.sun.jna.ptr.PointerByReference;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;

/** The arrays of object pointers that libvirt's virConnectListAll* calls return. */
public final class NativeList {

  private NativeList() {}

  /**
   * Reads every object, frees every object (even after an exception) and frees the array.
   *
   * @param wrapper creates the binding's type for one object
   * @param reader receives a pointer that is valid only during the call
   */
  public static <P extends PointerType, T> List<T> take(
      PointerByReference list,
      int count,
      Supplier<P> wrapper,
      Function<P, T> reader,
      Consumer<P> freer) {
    Pointer array = list.getValue();
    if (array == null) {
      return List.of();
    }
    List<P> objects = new ArrayList<>(count);
    for (Pointer pointer : array.getPointerArray(0, count)) {
      P object = wrapper.get();
      object.setPointer(pointer);
      objects.add(object);
    }
    try {
      List<T> found = new ArrayList<>(count);
      for (P object : objects) {
        found.add(reader.apply(object));
      }
      return found;
    } finally {
      objects.forEach(freer);
      free(array);
    }
  }

  /** Frees memory that libvirt allocated with malloc. */
  public static void free(Pointer memory) {
    if (memory != null) {
      Native.free(Pointer.nativeValue(memory));
    }
  }
}

package graft.remoting.device;

/**
 * A device whose handles for other processes ({@code cuIpcGetMemHandle} and the like) name files of
 * the exporting process. Processes that cannot open each other's files pass them as descriptors.
 */
public interface HandleFiles {
  /** The files of a device whose handles can be opened without any. */
  HandleFiles NONE =
      new HandleFiles() {
        @Override
        public int file(long handle) {
          return -1;
        }

        @Override
        public void adopt(long handle, int descriptor) {
          throw new IllegalStateException("this device has no files behind its handles");
        }
      };

  /** Returns the files of a device. */
  static HandleFiles of(CudaDevice device) {
    return device instanceof HandleFiles files ? files : NONE;
  }

  /**
   * Returns the file behind a handle.
   *
   * @param handle the address of a handle that this process exported
   * @return the device's own descriptor, -1 if there is none
   */
  int file(long handle);

  /**
   * Sets the file behind a handle of another process, before the handle is opened.
   *
   * @param handle the address of the handle
   * @param descriptor the descriptor, which the device takes over
   */
  void adopt(long handle, int descriptor);
}

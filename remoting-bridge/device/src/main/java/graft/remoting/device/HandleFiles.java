package graft.remoting.device;

/**
 * A device whose handles for other processes ({@code cuIpcGetMemHandle} and the like) name files of
 * the process that gave them. Processes that cannot reach each other's files pass these as
 * descriptors.
 */
public interface HandleFiles {
  /** Of a device whose handles are all that others need. */
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

  /** Those of a device. */
  static HandleFiles of(CudaDevice device) {
    return device instanceof HandleFiles files ? files : NONE;
  }

  /**
   * The file behind a handle.
   *
   * @param handle the address of a handle that this process gave
   * @return the device's own descriptor, -1 if there is none
   */
  int file(long handle);

  /**
   * Says which file is behind a handle of another process, before it is opened.
   *
   * @param handle the handle's address
   * @param descriptor the device's from now on
   */
  void adopt(long handle, int descriptor);
}

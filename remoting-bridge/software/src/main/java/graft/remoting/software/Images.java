package graft.remoting.software;

import static graft.remoting.software.memory.Native.UNSAFE;
import static graft.remoting.software.object.CallerMemory.require;

import graft.remoting.device.CudaResult;
import graft.remoting.software.image.Image;
import graft.remoting.software.memory.Native;
import graft.remoting.software.module.CompiledModule;
import graft.remoting.software.object.CudaException;
import graft.remoting.software.object.Gpu;
import graft.remoting.software.object.Gpus;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Compiles the PTX of images. */
final class Images {
  private final Gpus gpus;

  Images(Gpus gpus) {
    this.gpus = gpus;
  }

  CompiledModule compile(long image) {
    require(image != 0, "no image");
    Gpu gpu = gpus.get(0);
    return CompiledModule.of(Image.ptx(image, gpu.computeMajor() * 10 + gpu.computeMinor()));
  }

  CompiledModule compileFile(long fileName) {
    String name = Native.text(fileName);
    byte[] bytes;
    try {
      bytes = Files.readAllBytes(Path.of(name));
    } catch (IOException e) {
      throw new CudaException(CudaResult.FILE_NOT_FOUND, "cannot read " + name);
    }
    long copy = UNSAFE.allocateMemory(bytes.length + 64L);
    try {
      UNSAFE.setMemory(copy, bytes.length + 64L, (byte) 0);
      Native.put(copy, bytes, bytes.length);
      return compile(copy);
    } finally {
      UNSAFE.freeMemory(copy);
    }
  }
}

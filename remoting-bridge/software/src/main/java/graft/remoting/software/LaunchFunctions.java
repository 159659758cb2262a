package graft.remoting.software;

import static graft.remoting.software.memory.Native.UNSAFE;
import static graft.remoting.software.object.CallerMemory.ints;
import static graft.remoting.software.object.CallerMemory.require;

import graft.remoting.device.LaunchApi;
import graft.remoting.software.object.GraphNode;
import graft.remoting.software.object.HostCall;
import graft.remoting.software.object.LaunchAttributes;
import graft.remoting.software.object.Stream;
import graft.remoting.software.object.Streams;

/** CUDA driver API: launches of "Execution Control". */
final class LaunchFunctions implements LaunchApi {
  private final Calls calls;
  private final Streams streams;
  private final Launches launches;

  LaunchFunctions(Calls calls, Streams streams, Launches launches) {
    this.calls = calls;
    this.streams = streams;
    this.launches = launches;
  }

  private void launch(Launches.Request request, long stream) {
    Stream s = streams.get(stream);
    streams.submit(s, GraphNode.Type.KERNEL, launches.prepare(request, s.context()));
  }

  @Override
  public int cuLaunchKernel(
      long function,
      int gridX,
      int gridY,
      int gridZ,
      int blockX,
      int blockY,
      int blockZ,
      int sharedBytes,
      long stream,
      long parameters,
      long extra) {
    return calls.run(
        () ->
            launch(
                new Launches.Request(
                    function,
                    new int[] {gridX, gridY, gridZ},
                    new int[] {blockX, blockY, blockZ},
                    sharedBytes,
                    parameters,
                    extra,
                    LaunchAttributes.NONE),
                stream));
  }

  @Override
  public int cuLaunchCooperativeKernel(
      long function,
      int gridX,
      int gridY,
      int gridZ,
      int blockX,
      int blockY,
      int blockZ,
      int sharedBytes,
      long stream,
      long parameters) {
    return calls.run(
        () ->
            launch(
                new Launches.Request(
                    function,
                    new int[] {gridX, gridY, gridZ},
                    new int[] {blockX, blockY, blockZ},
                    sharedBytes,
                    parameters,
                    0,
                    LaunchAttributes.COOPERATIVE),
                stream));
  }

  /** CUlaunchConfig: grid at 0, block at 12, shared bytes at 24, stream at 32, attributes at 40. */
  @Override
  public int cuLaunchKernelEx(long config, long function, long parameters, long extra) {
    return calls.run(
        () -> {
          require(config != 0, "no launch configuration");
          LaunchAttributes attributes = LaunchAttributes.of(config);
          launch(
              new Launches.Request(
                  function,
                  ints(config),
                  ints(config + 12),
                  UNSAFE.getInt(config + 24),
                  parameters,
                  extra,
                  attributes),
              UNSAFE.getLong(config + 32));
        });
  }

  @Override
  public int cuLaunchHostFunc(long stream, long function, long userData) {
    return calls.run(
        () -> {
          require(function != 0, "no host function");
          streams.submit(
              streams.get(stream), GraphNode.Type.HOST, () -> HostCall.run(function, userData));
        });
  }
}

import static jcuda.driver.JCudaDriver.cuCtxCreate;
import static jcuda.driver.JCudaDriver.cuCtxDestroy;
import static jcuda.driver.JCudaDriver.cuDeviceGet;
import static jcuda.driver.JCudaDriver.cuDeviceGetName;
import static jcuda.driver.JCudaDriver.cuEventCreate;
import static jcuda.driver.JCudaDriver.cuEventElapsedTime;
import static jcuda.driver.JCudaDriver.cuEventQuery;
import static jcuda.driver.JCudaDriver.cuEventRecord;
import static jcuda.driver.JCudaDriver.cuInit;
import static jcuda.driver.JCudaDriver.cuLaunchKernel;
import static jcuda.driver.JCudaDriver.cuMemAlloc;
import static jcuda.driver.JCudaDriver.cuMemAllocHost;
import static jcuda.driver.JCudaDriver.cuMemFree;
import static jcuda.driver.JCudaDriver.cuMemFreeHost;
import static jcuda.driver.JCudaDriver.cuMemcpyDtoD;
import static jcuda.driver.JCudaDriver.cuMemcpyDtoH;
import static jcuda.driver.JCudaDriver.cuMemcpyDtoHAsync;
import static jcuda.driver.JCudaDriver.cuMemcpyHtoD;
import static jcuda.driver.JCudaDriver.cuMemcpyHtoDAsync;
import static jcuda.driver.JCudaDriver.cuMemsetD8;
import static jcuda.driver.JCudaDriver.cuModuleGetFunction;
import static jcuda.driver.JCudaDriver.cuModuleLoadData;
import static jcuda.driver.JCudaDriver.cuStreamCreate;
import static jcuda.driver.JCudaDriver.cuStreamWaitEvent;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import jcuda.CudaException;
import jcuda.Pointer;
import jcuda.driver.CUcontext;
import jcuda.driver.CUdevice;
import jcuda.driver.CUdeviceptr;
import jcuda.driver.CUevent;
import jcuda.driver.CUevent_flags;
import jcuda.driver.CUfunction;
import jcuda.driver.CUmodule;
import jcuda.driver.CUresult;
import jcuda.driver.CUstream;
import jcuda.driver.CUstream_flags;
import jcuda.driver.JCudaDriver;

/**
 * Vector addition with JCuda, in two streams that an event orders: from Java's arrays and from
 * pinned memory to the device, back to pinned memory and, by way of a copy on the device, to an
 * array. Every byte is checked, and those behind the result, which must stay.
 *
 * <p>java -cp jcuda.jar:jcuda-natives.jar VectorAddJCuda.java
 */
public final class VectorAddJCuda {
  private static final int ELEMENTS = 50_000;
  private static final int BLOCK = 256;
  private static final int BYTES = ELEMENTS * Integer.BYTES;
  private static final int BEHIND = 4096;
  private static final byte FILL = (byte) 0xa5;

  private static final String PTX =
      """
      .version 6.0
      .target sm_52
      .address_size 64
      .visible .entry vectorAdd(.param .u64 a, .param .u64 b, .param .u64 c, .param .u32 n)
      {
        .reg .pred %p;
        .reg .b32 %i, %count, %block, %width, %thread, %x, %y;
        .reg .b64 %a, %b, %c, %offset;
        ld.param.u64 %a, [a];
        ld.param.u64 %b, [b];
        ld.param.u64 %c, [c];
        ld.param.u32 %count, [n];
        mov.u32 %block, %ctaid.x;
        mov.u32 %width, %ntid.x;
        mov.u32 %thread, %tid.x;
        mad.lo.s32 %i, %block, %width, %thread;
        setp.ge.s32 %p, %i, %count;
        @%p bra DONE;
        cvta.to.global.u64 %a, %a;
        cvta.to.global.u64 %b, %b;
        cvta.to.global.u64 %c, %c;
        mul.wide.s32 %offset, %i, 4;
        add.s64 %a, %a, %offset;
        add.s64 %b, %b, %offset;
        add.s64 %c, %c, %offset;
        ld.global.u32 %x, [%a];
        ld.global.u32 %y, [%b];
        add.s32 %x, %x, %y;
        st.global.u32 [%c], %x;
      DONE:
        ret;
      }
      """;

  private VectorAddJCuda() {}

  public static void main(String[] arguments) {
    String problem;
    try {
      JCudaDriver.setExceptionsEnabled(true);
      problem = run();
    } catch (CudaException | UnsatisfiedLinkError e) {
      problem = e.getMessage().lines().findFirst().orElse("");
    }
    System.out.println(problem.isEmpty() ? "result=ok" : "result=failed: " + problem);
    System.exit(problem.isEmpty() ? 0 : 1);
  }

  private static String run() {
    cuInit(0);
    CUdevice device = new CUdevice();
    cuDeviceGet(device, 0);
    byte[] name = new byte[256];
    cuDeviceGetName(name, name.length, device);
    System.out.println("device=" + new String(name).trim());
    System.out.println("elements=" + ELEMENTS);
    CUcontext context = new CUcontext();
    cuCtxCreate(context, 0, device);
    CUmodule module = new CUmodule();
    cuModuleLoadData(module, PTX);
    CUfunction function = new CUfunction();
    cuModuleGetFunction(function, module, "vectorAdd");
    String problem = add(function);
    cuCtxDestroy(context);
    return problem;
  }

  private static String add(CUfunction function) {
    CUdeviceptr a = memory(BYTES);
    CUdeviceptr b = memory(BYTES);
    CUdeviceptr c = memory(BYTES + BEHIND);
    CUdeviceptr copy = memory(BYTES + BEHIND);
    Pointer pinned = new Pointer();
    cuMemAllocHost(pinned, BYTES);
    ByteBuffer host = pinned.getByteBuffer(0, BYTES).order(ByteOrder.nativeOrder());

    int[] first = new int[ELEMENTS];
    ByteBuffer expected = ByteBuffer.allocate(BYTES + BEHIND).order(ByteOrder.nativeOrder());
    for (int i = 0; i < ELEMENTS; i++) {
      int second = i * 0x9e3779b1;
      first[i] = ~i * 0x85ebca6b;
      host.putInt(i * Integer.BYTES, second);
      expected.putInt(first[i] + second);
    }
    Arrays.fill(expected.array(), BYTES, BYTES + BEHIND, FILL);

    CUstream copies = stream();
    CUstream kernels = stream();
    CUevent begun = event();
    CUevent brought = event();
    CUevent added = event();
    CUevent ended = event();
    cuMemcpyHtoD(a, Pointer.to(first), BYTES);
    cuMemsetD8(c, FILL, BYTES + BEHIND);
    JCudaDriver.cuCtxSynchronize();
    cuEventRecord(begun, copies);
    cuMemcpyHtoDAsync(b, pinned, BYTES, copies);
    cuEventRecord(brought, copies);
    cuStreamWaitEvent(kernels, brought, 0);
    Pointer parameters =
        Pointer.to(
            Pointer.to(a), Pointer.to(b), Pointer.to(c), Pointer.to(new int[] {ELEMENTS}));
    int blocks = (ELEMENTS + BLOCK - 1) / BLOCK;
    cuLaunchKernel(function, blocks, 1, 1, BLOCK, 1, 1, 0, kernels, parameters, null);
    cuEventRecord(added, kernels);
    cuStreamWaitEvent(copies, added, 0);
    cuMemcpyDtoHAsync(pinned, c, BYTES, copies);
    cuEventRecord(ended, copies);
    JCudaDriver.cuEventSynchronize(ended);

    float[] milliseconds = new float[1];
    cuEventElapsedTime(milliseconds, begun, ended);
    if (cuEventQuery(added) != CUresult.CUDA_SUCCESS || !(milliseconds[0] >= 0)) {
      return "events are not in order: " + milliseconds[0] + " ms";
    }
    byte[] back = new byte[BYTES];
    host.get(0, back);
    cuMemcpyDtoD(copy, c, BYTES + BEHIND);
    byte[] whole = new byte[BYTES + BEHIND];
    cuMemcpyDtoH(Pointer.to(whole), copy, whole.length);
    cuMemFreeHost(pinned);
    for (CUdeviceptr memory : new CUdeviceptr[] {a, b, c, copy}) {
      cuMemFree(memory);
    }
    int wrong = Arrays.mismatch(back, 0, BYTES, expected.array(), 0, BYTES);
    if (wrong >= 0) {
      return "byte " + wrong + " of the pinned memory";
    }
    wrong = Arrays.mismatch(whole, expected.array());
    return wrong < 0 ? "" : "byte " + wrong + " of the array";
  }

  private static CUdeviceptr memory(long bytes) {
    CUdeviceptr memory = new CUdeviceptr();
    cuMemAlloc(memory, bytes);
    return memory;
  }

  private static CUstream stream() {
    CUstream stream = new CUstream();
    cuStreamCreate(stream, CUstream_flags.CU_STREAM_NON_BLOCKING);
    return stream;
  }

  private static CUevent event() {
    CUevent event = new CUevent();
    cuEventCreate(event, CUevent_flags.CU_EVENT_DEFAULT);
    return event;
  }
}

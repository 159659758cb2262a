package graft.remoting.software.codegen;

import graft.remoting.software.analysis.AffineAddresses;
import graft.remoting.software.analysis.Liveness;
import graft.remoting.software.analysis.Regions;
import graft.remoting.software.lowering.Program;
import java.util.function.IntSupplier;

/**
 * The parts that the writers of a kernel's regions share.
 *
 * @param accessSites numbers the instructions that access memory
 */
record KernelParts(
    Program program,
    Regions regions,
    Liveness liveness,
    AffineAddresses affine,
    RegisterSlots slots,
    FunctionWriter functions,
    IntSupplier accessSites) {}

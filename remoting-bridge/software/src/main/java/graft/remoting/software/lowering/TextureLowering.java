package graft.remoting.software.lowering;

import static graft.remoting.software.ir.Exprs.call;
import static graft.remoting.software.ir.Exprs.callWithBlock;
import static graft.remoting.software.ir.Exprs.integer;

import graft.remoting.software.ir.Expr;
import graft.remoting.software.ir.Exprs;
import graft.remoting.software.ir.Kind;
import graft.remoting.software.ir.Node;
import graft.remoting.software.ptx.Operand;
import graft.remoting.software.ptx.PtxType;
import graft.remoting.software.ptx.Statement.Instruction;
import java.util.List;

/** PTX ISA, "Texture Instructions" and "Surface Instructions". */
final class TextureLowering extends InstructionGroup {
  private static final String ACCESS = "exec/TextureAccess";

  TextureLowering(FunctionLowering at) {
    super(at);
  }

  /** Dimensions and whether the first coordinate is a layer. */
  private record Geometry(int dimensions, boolean layered) {}

  @Override
  boolean lower(Instruction i) {
    switch (i.opcode()) {
      case "tex" -> sample(i);
      case "tld4" -> gather(i);
      case "txq", "suq" -> query(i);
      case "suld" -> loadSurface(i);
      case "sust" -> storeSurface(i);
      case "istypep" -> throw unsupported(i);
      default -> {
        return false;
      }
    }
    return true;
  }

  private static Geometry geometry(Instruction i) {
    for (String m : i.modifiers()) {
      switch (m) {
        case ".1d" -> {
          return new Geometry(1, false);
        }
        case ".2d" -> {
          return new Geometry(2, false);
        }
        case ".3d" -> {
          return new Geometry(3, false);
        }
        case ".a1d" -> {
          return new Geometry(1, true);
        }
        case ".a2d" -> {
          return new Geometry(2, true);
        }
        default -> {}
      }
    }
    throw unsupported(i); // multisample
  }

  private Expr handle(Operand.Bracketed address, Instruction i) {
    return at.read(address.elements().get(0), PtxType.B64, i.line());
  }

  private static List<Operand> coordinates(Operand.Bracketed address) {
    Operand c = address.elements().get(1);
    return c instanceof Operand.Vector v ? v.elements() : List.of(c);
  }

  private void sample(Instruction i) {
    if (i.has(".grad") || i.has(".base")) {
      throw unsupported(i);
    }
    if (i.has(".cube") || i.has(".acube")) {
      sampleCube(i);
      return;
    }
    Geometry g = geometry(i);
    List<PtxType> types = types(i);
    PtxType result = types.get(0);
    PtxType coordinate = types.get(1);
    if (result.isHalf()) {
      throw unsupported(i);
    }
    Operand.Bracketed address = (Operand.Bracketed) i.operands().get(1);
    List<Operand> c = coordinates(address);
    int first = g.layered ? 1 : 0;
    boolean whole = !coordinate.isFloat();
    Expr[] xyz = new Expr[3];
    for (int k = 0; k < 3; k++) {
      xyz[k] =
          k < g.dimensions
              ? at.read(c.get(first + k), coordinate, i.line())
              : new Expr.Const(Kind.of(coordinate), 0);
    }
    // The layer is a u32, whatever the type of the coordinates.
    Expr layer = g.layered ? at.read(c.get(0), PtxType.U32, i.line()) : integer(0);
    Expr level =
        i.has(".level")
            ? at.read(i.operands().get(2), coordinate, i.line())
            : new Expr.Const(Kind.of(coordinate), 0);
    at.emit(
        new Node.Effect(
            callWithBlock(
                ACCESS,
                whole ? "fetch" : "sample",
                null,
                handle(address, i),
                integer(g.dimensions),
                xyz[0],
                xyz[1],
                xyz[2],
                layer,
                level)));
    results(i, result);
  }

  private void sampleCube(Instruction i) {
    List<PtxType> types = types(i);
    if (types.get(0).isHalf() || types.get(1) != PtxType.F32) {
      throw unsupported(i);
    }
    Operand.Bracketed address = (Operand.Bracketed) i.operands().get(1);
    List<Operand> c = coordinates(address);
    boolean layered = i.has(".acube");
    int first = layered ? 1 : 0;
    at.emit(
        new Node.Effect(
            callWithBlock(
                ACCESS,
                "sampleCube",
                null,
                handle(address, i),
                at.read(c.get(first), PtxType.F32, i.line()),
                at.read(c.get(first + 1), PtxType.F32, i.line()),
                at.read(c.get(first + 2), PtxType.F32, i.line()),
                layered ? at.read(c.get(0), PtxType.U32, i.line()) : integer(0),
                i.has(".level")
                    ? at.read(i.operands().get(2), PtxType.F32, i.line())
                    : new Expr.Const(Kind.FLOAT, 0))));
    results(i, types.get(0));
  }

  private void results(Instruction i, PtxType type) {
    List<Operand> targets =
        i.operands().get(0) instanceof Operand.Vector v
            ? v.elements()
            : List.of(i.operands().get(0));
    for (int k = 0; k < targets.size(); k++) {
      Expr bits = callWithBlock(ACCESS, "texel", Kind.INT, integer(k));
      at.write(targets.get(k), PtxType.B32, bits, i.line());
    }
  }

  private void gather(Instruction i) {
    Geometry g = geometry(i);
    if (g.dimensions != 2 || g.layered) {
      throw unsupported(i);
    }
    int component = i.has(".r") ? 0 : i.has(".g") ? 1 : i.has(".b") ? 2 : 3;
    Operand.Bracketed address = (Operand.Bracketed) i.operands().get(1);
    List<Operand> c = coordinates(address);
    at.emit(
        new Node.Effect(
            callWithBlock(
                ACCESS,
                "gather",
                null,
                handle(address, i),
                integer(component),
                at.read(c.get(0), PtxType.F32, i.line()),
                at.read(c.get(1), PtxType.F32, i.line()))));
    results(i, types(i).get(0));
  }

  private void query(Instruction i) {
    String what = i.modifiers().get(0).substring(1);
    if (!List.of("width", "height", "depth", "array_size", "channel_data_type", "channel_order")
        .contains(what)) {
      throw unsupported(i);
    }
    int number =
        switch (what) {
          case "width" -> 0;
          case "height" -> 1;
          case "depth" -> 2;
          case "array_size" -> 3;
          default -> throw unsupported(i);
        };
    Operand.Address a = (Operand.Address) i.operands().get(1);
    write(
        i,
        0,
        PtxType.B32,
        callWithBlock(
            ACCESS,
            i.opcode().equals("txq") ? "queryTexture" : "querySurface",
            Kind.INT,
            at.read(a.base(), PtxType.B64, i.line()),
            integer(number)));
  }

  /** Returns the address of surface elements; the clamp modifier decides about elements outside. */
  private Expr surfaceAddress(Instruction i, Operand.Bracketed where, int bytes, boolean store) {
    Geometry g = geometry(i);
    List<Operand> c = coordinates(where);
    int first = g.layered ? 1 : 0;
    Expr[] xyz = new Expr[3];
    for (int k = 0; k < 3; k++) {
      xyz[k] = k < g.dimensions ? at.read(c.get(first + k), PtxType.S32, i.line()) : integer(0);
    }
    Expr layer = g.layered ? at.read(c.get(0), PtxType.U32, i.line()) : integer(0);
    int clamp = i.has(".trap") ? 0 : i.has(".clamp") ? 1 : 2;
    Expr address =
        callWithBlock(
            ACCESS,
            "surfaceAddress",
            Kind.LONG,
            handle(where, i),
            xyz[0],
            xyz[1],
            xyz[2],
            layer,
            integer(bytes),
            integer(clamp),
            integer(store ? 1 : 0),
            new Expr.ThreadIndex());
    return at.copy(address, PtxType.B64);
  }

  private static int vector(Instruction i) {
    return i.has(".v2") ? 2 : i.has(".v4") ? 4 : 1;
  }

  private void loadSurface(Instruction i) {
    PtxType t = type(i);
    if (!i.has(".b")) {
      throw unsupported(i);
    }
    int count = vector(i);
    Expr address =
        surfaceAddress(i, (Operand.Bracketed) i.operands().get(1), count * t.bytes(), false);
    List<Operand> targets =
        i.operands().get(0) instanceof Operand.Vector v
            ? v.elements()
            : List.of(i.operands().get(0));
    for (int k = 0; k < count; k++) {
      Expr value =
          call(
              "exec/Access",
              "load" + MemoryLowering.accessor(t),
              Kind.of(t),
              Exprs.add(address, (long) k * t.bytes()));
      at.write(targets.get(k), t, value, i.line());
    }
  }

  private void storeSurface(Instruction i) {
    PtxType t = type(i);
    if (!i.has(".b")) {
      throw unsupported(i);
    }
    int count = vector(i);
    Expr address =
        surfaceAddress(i, (Operand.Bracketed) i.operands().get(0), count * t.bytes(), true);
    List<Operand> values =
        i.operands().get(1) instanceof Operand.Vector v
            ? v.elements()
            : List.of(i.operands().get(1));
    for (int k = 0; k < count; k++) {
      at.emit(
          new Node.Effect(
              call(
                  "exec/Access",
                  "storeI" + t.bits(),
                  null,
                  Exprs.add(address, (long) k * t.bytes()),
                  at.read(values.get(k), t, i.line()))));
    }
  }
}

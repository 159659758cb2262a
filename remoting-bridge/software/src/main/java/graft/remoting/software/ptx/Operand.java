package graft.remoting.software.ptx;

import java.util.List;

/** An operand of an instruction (PTX ISA, "Instruction Operands"). */
public sealed interface Operand {

  /** A register, variable, function or label by name, as seen from a scope. */
  record Name(String name, Scope scope) implements Operand {}

  /** {@code symbol+8}: an address with an offset, as a value. */
  record Sum(Name base, long offset) implements Operand {}

  /** A special register or a part of a vector register: {@code %tid.x}. */
  record Component(String name, String part, Scope scope) implements Operand {}

  /** A number; {@code form} says how it was written. */
  record Immediate(long bits, Form form) implements Operand {
    /** How a constant was written. */
    public enum Form {
      INTEGER,
      FLOAT32,
      FLOAT64
    }
  }

  /** {@code [base+offset]}; base is null for an absolute address. */
  record Address(Operand base, long offset) implements Operand {}

  /** {@code {a, b, c, d}}. */
  record Vector(List<Operand> elements) implements Operand {}

  /** {@code [texture, {coordinates}]} and longer bracketed lists. */
  record Bracketed(List<Operand> elements) implements Operand {}

  /** {@code d|p}. */
  record Pair(Operand first, Operand second) implements Operand {}

  /** {@code !p}. */
  record Not(Operand operand) implements Operand {}

  /** {@code (a, b)} of a call. */
  record Arguments(List<Operand> elements) implements Operand {}

  /** {@code _}: a result that is not wanted. */
  record Sink() implements Operand {}
}

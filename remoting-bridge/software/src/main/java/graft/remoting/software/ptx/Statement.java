package graft.remoting.software.ptx;

import java.util.List;

/** An element of a function's body. */
public sealed interface Statement {

  /** Line of the text, from 1. */
  int line();

  /** A target of branches; compared by identity, since inner scopes may reuse a name. */
  final class Label implements Statement {
    private final String name;
    private final int line;

    Label(String name, int line) {
      this.name = name;
      this.line = line;
    }

    public String name() {
      return name;
    }

    @Override
    public int line() {
      return line;
    }
  }

  /**
   * An instruction.
   *
   * @param guard predicate register, or null
   * @param guardNegated whether it runs when the predicate is false
   * @param opcode the first word, such as {@code ld}
   * @param modifiers the dotted words after the opcode, with their dots, in order
   * @param operands the operands in order
   */
  record Instruction(
      Operand guard,
      boolean guardNegated,
      String opcode,
      List<String> modifiers,
      List<Operand> operands,
      int line)
      implements Statement {

    /** Whether the dotted word is one of the modifiers. */
    public boolean has(String modifier) {
      return modifiers.contains(modifier);
    }

    /** The opcode with its modifiers, as written. */
    public String mnemonic() {
      return opcode + String.join("", modifiers);
    }
  }

  /** A variable declared in the body. */
  record Declaration(Variable variable, int line) implements Statement {}

  /** {@code .callprototype}: the signature of a function that is called by address. */
  record Prototype(List<Variable> returns, List<Variable> params, int line) implements Statement {}

  /** {@code .branchtargets} or {@code .calltargets}. */
  record Targets(List<Operand> names, int line) implements Statement {}
}

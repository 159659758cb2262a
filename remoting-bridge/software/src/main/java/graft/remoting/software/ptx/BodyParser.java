package graft.remoting.software.ptx;

import graft.remoting.software.ptx.Operand.Immediate;
import java.util.ArrayList;
import java.util.List;

/** Parses the body of a function into statements (PTX ISA, "PTX Statements"). */
final class BodyParser {
  private static final int DEEPEST_NESTING = 500;

  private final TokenStream tokens;
  private final PtxParser.Scopes scopes;
  private final List<Statement> statements = new ArrayList<>();
  private int depth;

  BodyParser(TokenStream tokens, PtxParser.Scopes scopes) {
    this.tokens = tokens;
    this.scopes = scopes;
  }

  List<Statement> body(Scope scope) {
    block(scope);
    return statements;
  }

  private void block(Scope scope) {
    tokens.expect("{");
    if (++depth > DEEPEST_NESTING) {
      throw PtxException.invalid(tokens.line(), "blocks nested too deeply");
    }
    while (!tokens.accept("}")) {
      statement(scope);
    }
    depth--;
  }

  private void statement(Scope scope) {
    Token token = tokens.peek();
    switch (token.kind()) {
      case DOTTED -> directive(scope);
      case IDENTIFIER -> {
        if (tokens.peekSecond().is(":")) {
          label(scope);
        } else {
          instruction(scope);
        }
      }
      case END -> throw PtxException.invalid(token.line(), "missing '}'");
      default -> {
        if (tokens.at("{")) {
          block(scopes.inside(scope));
        } else if (tokens.at("@")) {
          instruction(scope);
        } else if (!tokens.accept(";")) {
          throw PtxException.invalid(
              token.line(), "expected a statement but found '" + token.text() + "'");
        }
      }
    }
  }

  private void directive(Scope scope) {
    Token token = tokens.peek();
    switch (token.text()) {
      case ".loc", ".file" -> tokens.skipLine();
      case ".pragma" -> tokens.skipStatement();
      default -> {
        if (Space.of(token.text()) == null) {
          throw PtxException.unsupported(token.line(), "directive '" + token.text() + "'");
        }
        for (Variable v : new VariableParser(tokens, scope).declaration(false)) {
          if (v.space() != Space.REG) {
            statements.add(new Statement.Declaration(v, v.line()));
          }
        }
        tokens.expect(";");
      }
    }
  }

  private void label(Scope scope) {
    int line = tokens.line();
    String name = tokens.take().text();
    tokens.expect(":");
    switch (tokens.peek().text()) {
      case ".callprototype" -> {
        tokens.take();
        Scope inner = scopes.inside(scope);
        VariableParser parser = new VariableParser(tokens, inner);
        List<Variable> returns = tokens.at("(") ? parser.parameters() : List.of();
        tokens.identifier("'_'");
        List<Variable> params = tokens.at("(") ? parser.parameters() : List.of();
        while (!tokens.at(";")) {
          if (tokens.atKind(Token.Kind.END)) {
            throw PtxException.invalid(line, "missing ';'");
          }
          tokens.take(); // .noreturn, .abi_preserve n
        }
        tokens.expect(";");
        scope.declare(name, new Statement.Prototype(returns, params, line), line);
      }
      case ".branchtargets", ".calltargets" -> {
        tokens.take();
        List<Operand> names = new ArrayList<>();
        do {
          names.add(operand(scope));
        } while (tokens.accept(","));
        tokens.expect(";");
        scope.declare(name, new Statement.Targets(names, line), line);
      }
      default -> {
        Statement.Label made = new Statement.Label(name, line);
        scope.declare(name, made, line);
        statements.add(made);
      }
    }
  }

  private void instruction(Scope scope) {
    Operand guard = null;
    boolean negated = false;
    if (tokens.accept("@")) {
      negated = tokens.accept("!");
      guard = operand(scope);
    }
    final int line = tokens.line();
    final String opcode = tokens.identifier("an instruction");
    List<String> modifiers = new ArrayList<>();
    while (tokens.atKind(Token.Kind.DOTTED)) {
      modifiers.add(tokens.take().text());
    }
    List<Operand> operands = new ArrayList<>();
    if (!tokens.at(";")) {
      do {
        operands.add(operand(scope));
      } while (tokens.accept(","));
    }
    tokens.expect(";");
    statements.add(new Statement.Instruction(guard, negated, opcode, modifiers, operands, line));
  }

  private Operand operand(Scope scope) {
    Operand first = single(scope);
    if (tokens.accept("|")) {
      return new Operand.Pair(first, single(scope));
    }
    return first;
  }

  private Operand single(Scope scope) {
    Token token = tokens.peek();
    switch (token.kind()) {
      case IDENTIFIER -> {
        return named(scope);
      }
      case FLOAT32 -> {
        return new Immediate(tokens.take().bits(), Immediate.Form.FLOAT32);
      }
      case FLOAT64 -> {
        return new Immediate(tokens.take().bits(), Immediate.Form.FLOAT64);
      }
      default -> {}
    }
    if (tokens.accept("!")) {
      return new Operand.Not(single(scope));
    }
    if (tokens.at("{")) {
      return new Operand.Vector(list("{", "}", scope));
    }
    if (tokens.at("(")) {
      Token second = tokens.peekSecond();
      if (second.kind() == Token.Kind.INTEGER || second.is("-")) {
        return callArgumentsOrNumber(scope);
      }
      return new Operand.Arguments(list("(", ")", scope));
    }
    if (tokens.accept("[")) {
      return bracketed(scope);
    }
    if (tokens.at("-") && tokens.peekSecond().kind() == Token.Kind.FLOAT64) {
      tokens.take();
      return new Immediate(tokens.take().bits() ^ Long.MIN_VALUE, Immediate.Form.FLOAT64);
    }
    return new Immediate(tokens.integer(), Immediate.Form.INTEGER);
  }

  /** {@code (4, %r1)} is a list of arguments, {@code (4)} too: both are taken as a list. */
  private Operand callArgumentsOrNumber(Scope scope) {
    return new Operand.Arguments(list("(", ")", scope));
  }

  private Operand named(Scope scope) {
    String name = tokens.take().text();
    if (name.equals("_")) {
      return new Operand.Sink();
    }
    if (tokens.atKind(Token.Kind.DOTTED)) {
      return new Operand.Component(name, tokens.take().text(), scope);
    }
    Operand.Name named = new Operand.Name(name, scope);
    if (tokens.at("+") || tokens.at("-")) {
      return new Operand.Sum(named, tokens.integer());
    }
    return named;
  }

  private List<Operand> list(String open, String close, Scope scope) {
    tokens.expect(open);
    List<Operand> elements = new ArrayList<>();
    if (++depth > DEEPEST_NESTING) {
      throw PtxException.invalid(tokens.line(), "operands nested too deeply");
    }
    while (!tokens.accept(close)) {
      if (!elements.isEmpty()) {
        tokens.expect(",");
      }
      elements.add(operand(scope));
    }
    depth--;
    return elements;
  }

  private Operand bracketed(Scope scope) {
    Operand first = single(scope);
    if (tokens.at(",")) {
      List<Operand> elements = new ArrayList<>();
      elements.add(first);
      while (tokens.accept(",")) {
        elements.add(operand(scope));
      }
      tokens.expect("]");
      return new Operand.Bracketed(elements);
    }
    tokens.expect("]");
    if (first instanceof Operand.Sum sum) {
      return new Operand.Address(sum.base(), sum.offset());
    }
    if (first instanceof Immediate number && number.form() == Immediate.Form.INTEGER) {
      return new Operand.Address(null, number.bits());
    }
    return new Operand.Address(first, 0);
  }
}

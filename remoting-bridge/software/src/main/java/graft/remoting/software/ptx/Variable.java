package graft.remoting.software.ptx;

import java.util.List;

/**
 * A declared variable or register.
 *
 * @param space its state space
 * @param type element type
 * @param vector elements of a vector type: 1, 2 or 4
 * @param align alignment in bytes
 * @param name its name, with the percent sign of a register
 * @param elements number of elements of an array (vectors counted), 1 for a scalar, 0 for an array
 *     of unknown length ({@code .extern .shared .b8 s[]})
 * @param initial initial elements in order, empty if there are none
 * @param extern declared {@code .extern}
 * @param scope number of the scope that declared it, which distinguishes equal names
 * @param line the line of the declaration
 */
public record Variable(
    Space space,
    PtxType type,
    int vector,
    int align,
    String name,
    long elements,
    List<Initial> initial,
    boolean extern,
    int scope,
    int line) {

  /**
   * One initial element.
   *
   * @param bits a number's bits in the element type, or the addend to the symbol's address
   * @param symbol name of the variable or function whose address this is, or null
   * @param generic whether the address is {@code generic(symbol)}
   * @param shift the bit at which the selected part of the address starts ({@code 0xff00(symbol)}),
   *     0 for the whole address
   */
  public record Initial(long bits, String symbol, boolean generic, int shift) {}

  /** Size in bytes. */
  public long bytes() {
    return elements * vector * type.bytes();
  }
}

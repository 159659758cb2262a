package graft.remoting.software.compare;

/**
 * An instruction form whose kernel does more than apply it to three operands.
 *
 * @param text the instruction, or what is tried with it
 * @param result what a thread stores
 * @param ulps steps that it may differ by
 * @param directives what stands between the kernel's parameters and its body
 * @param body the PTX
 */
record Form(String text, String result, int ulps, String directives, String body) {
  Form(String text, String result, int ulps, String body) {
    this(text, result, ulps, "", body);
  }
}

package graft.remoting.software.ptx;

import java.util.List;
import java.util.Map;

/**
 * A parsed module.
 *
 * @param version {@code .version} as 10 * major + minor
 * @param target the architecture, such as {@code sm_75}
 * @param variables module-level variables in order
 * @param functions kernels and functions by name; a definition replaces its declaration
 * @param aliases the names of {@code .alias} and their targets
 * @param scope the module's names
 */
public record PtxModule(
    int version,
    String target,
    List<Variable> variables,
    Map<String, Function> functions,
    Map<String, String> aliases,
    Scope scope) {}

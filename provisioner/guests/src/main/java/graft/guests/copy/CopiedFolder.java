package graft.guests.copy;

import java.util.List;

/**
 * What a copy of a folder consists of.
 *
 * @param files the number of files
 * @param bytes their size
 * @param left how many links, devices and the like were not copied
 * @param examples the first paths of those, as the other side names them: print them escaped
 */
public record CopiedFolder(long files, long bytes, long left, List<String> examples) {
  public CopiedFolder {
    examples = List.copyOf(examples);
  }
}

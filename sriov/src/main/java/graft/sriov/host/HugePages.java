package graft.sriov.host;

import graft.common.values.MemorySize;

/**
 * The huge pages of one size (Linux, Documentation/admin-guide/mm/hugetlbpage.rst).
 *
 * @param size of each
 * @param total how many there are
 * @param free how many of them nobody uses
 */
public record HugePages(MemorySize size, int total, int free) {}

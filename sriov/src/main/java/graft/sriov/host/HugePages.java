package graft.sriov.host;

import graft.common.values.MemorySize;

/**
 * The huge pages of one size (Linux, Documentation/admin-guide/mm/hugetlbpage.rst).
 *
 * @param size the size of each page
 * @param total the number of pages
 * @param free the number of unused pages
 */
public record HugePages(MemorySize size, int total, int free) {}

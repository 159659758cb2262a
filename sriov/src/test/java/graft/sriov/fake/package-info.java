/**
 * A fake host: a real folder tree in which writes to the kernel's attributes have the same effects
 * as in Linux. The test jar of this module offers the package to the modules that plan and apply.
 */
package graft.sriov.fake;

/**
 * {@code graft slurm}: a pool of vGPUs for the jobs of Slurm. The scripts that Slurm runs are in
 * the resources of this package.
 */
package graft.cli.slurm;

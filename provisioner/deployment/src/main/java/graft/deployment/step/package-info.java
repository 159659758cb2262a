/**
 * Steps: the changes that a plan is made of.
 *
 * <p>A step is a small record. Its components are all that it needs to be done, and to be undone by
 * a later process that has nothing but the journal: {@link graft.deployment.step.StepCodec} writes
 * any of them as JSON.
 */
package graft.deployment.step;

import type { ConfigNamespace } from '../../schema/config-record.ts';
import type { Diagnostic } from '../diagnostics.ts';
import { invalidPayload } from '../namespaces/namespace.ts';
import type { Candidate } from './publisher.ts';
import type { Snapshot } from './snapshot.ts';

/**
 * Whether a change may be made (config.md 3.1, 6.1): everything that is wrong with the entry itself speaks against it,
 * and everything elsewhere that was not wrong before. What was wrong before does not: it is reported, and has to be
 * put right by somebody.
 */

export type Written = {
  namespace: ConfigNamespace;
  id: string;
  /** It is not there for runs. */
  hidden?: boolean;
};

/** @throws Invalid `invalid payload: invalid managed config: …` */
export const refuseProblems = (
  before: Snapshot,
  { snapshot: after, conflicts }: Pick<Candidate, 'snapshot' | 'conflicts'>,
  written: Written,
): void => {
  const problems = [
    ...referencesOf(before, after, written),
    ...sharedIdOf(after, written),
    ...conflicts.map((id) => `mcp tool id conflicts with existing tool: ${id}`),
    ...(written.namespace === 'agents' && !written.hidden ? [after.registry.faultOf(written.id) ?? []] : []),
  ].flat();
  const [first, ...others] = problems;
  if (first === undefined) return;
  const all = others.length === 0 ? first : `registry validation failed: ${problems.join('; ')}`;
  throw invalidPayload(`invalid managed config: ${all}`);
};

const referencesOf = (before: Snapshot, after: Snapshot, written: Written): string[] => {
  const known = new Set(before.registry.diagnostics().map(({ message }) => message));
  return withoutToolsOfAgents(
    after,
    after.registry
      .diagnostics()
      .filter(({ resource, message }) => isAbout(resource, written) || !known.has(message)),
  ).map(({ message }) => message);
};

const isAbout = (resource: Diagnostic['resource'], { namespace, id }: Written): boolean =>
  resource.namespace === namespace && resource.id === id;

/** A plugin may bring a tool for some agents only; those are compiled before a tool is said to be unknown. */
export const withoutToolsOfAgents = (
  { registry, records }: Snapshot,
  found: readonly Diagnostic[],
): Diagnostic[] =>
  found.filter(
    ({ code, depends_on: { id } }) =>
      code !== 'skill_missing_tool' || !records.agents.some((agent) => registry.hasTool(agent.id, id)),
  );

const sharedIdOf = ({ records }: Snapshot, { namespace, id }: Written): string[] => {
  const isShared = records.models.some(hasId(id)) && records.model_pools.some(hasId(id));
  if (!isShared) return [];
  if (namespace === 'models') return [`model registry conflict: model '${id}' already registered as a pool`];
  return namespace === 'model-pools'
    ? [`model registry conflict: pool '${id}' already registered as a model`]
    : [];
};

const hasId =
  (wanted: string) =>
  ({ id }: { id: string }): boolean =>
    id === wanted;

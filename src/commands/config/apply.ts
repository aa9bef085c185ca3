import { Conflict, Outcome } from '../../schema/outcome.ts';
import type { BundleEntry } from './bundle.ts';
import type { EntryStep, OverrideStep, Plan } from './plan.ts';
import { ConfigProblems } from './problems.ts';
import type { RemoteService } from './service.ts';

/** Reports the current step and the number of completed steps. */
export type OnStep = (place: string, done: number, steps: number) => void;

/**
 * Executes a plan: writes in the order of dependency, then deletions. Each write is one change of the service, so a
 * failed import keeps its earlier changes; the next import continues from there.
 *
 * @throws ConfigProblems naming the entry whose write was rejected
 */
export const applyPlan = async (
  service: RemoteService,
  { entries, overrides }: Plan,
  onStep: OnStep = () => {},
): Promise<void> => {
  const steps = entries.length + overrides.length;
  let done = 0;
  const begin = ({ namespace, id }: Place): void => {
    onStep(`${namespace}/${id}`, done, steps);
    done += 1;
  };
  const incomplete: BundleEntry[] = [];
  const agents = new Set((await service.list('agents')).map(({ id }) => id));
  for (const step of entries) {
    begin(step);
    if (step.action !== 'create' && step.action !== 'update') continue;
    const body = step.namespace === 'agents' ? startable(step.body, agents) : step.body;
    if (body !== step.body) incomplete.push(step.body);
    await attempt(step, () => write(service, { ...step, body }));
    if (step.namespace === 'agents') agents.add(step.id);
  }
  for (const body of incomplete) {
    const place = { namespace: 'agents', id: body.id } as const;
    await attempt(place, () => service.replace('agents', body.id, body));
  }
  for (const step of overrides) {
    begin(step);
    await attempt(step, () => override(service, step));
  }
  await removeAll(
    service,
    entries.filter(({ action }) => action === 'delete'),
  );
};

/**
 * Omits delegates that do not exist yet. Agents may delegate to each other in a cycle, so one of them is created first.
 */
const startable = (agent: BundleEntry, there: ReadonlySet<string>): BundleEntry => {
  const { delegates } = agent;
  if (!Array.isArray(delegates)) return agent;
  const known = delegates.filter((id) => typeof id !== 'string' || there.has(id));
  return known.length === delegates.length ? agent : { ...agent, delegates: known };
};

const write = (
  service: RemoteService,
  { action, namespace, id, body }: Extract<EntryStep, { body: BundleEntry }>,
): Promise<unknown> =>
  action === 'create' ? service.create(namespace, body) : service.replace(namespace, id, body);

const override = async (service: RemoteService, step: OverrideStep): Promise<void> => {
  const { namespace, id } = step;
  if (step.action === 'reset') await service.clearOverrides(namespace, id);
  if (step.action !== 'override') return;
  for (const field of step.stale) await service.clearOverrides(namespace, id, field);
  await service.override(namespace, id, step.body);
};

/** Retries rejected deletions: an entry can be deleted only after the entries that use it. */
const removeAll = async (service: RemoteService, steps: readonly EntryStep[]): Promise<void> => {
  let remaining = steps.toReversed();
  while (remaining.length > 0) {
    const refused: EntryStep[] = [];
    let reason: unknown;
    for (const step of remaining) {
      try {
        await service.remove(step.namespace, step.id);
      } catch (error) {
        if (!(error instanceof Conflict)) throw problemOf(step, error);
        refused.push(step);
        reason = error;
      }
    }
    const [first] = refused;
    if (first && refused.length === remaining.length) throw problemOf(first, reason);
    remaining = refused;
  }
};

type Place = { namespace: string; id: string };

const attempt = async (place: Place, change: () => Promise<unknown>): Promise<void> => {
  try {
    await change();
  } catch (error) {
    throw problemOf(place, error);
  }
};

const problemOf = ({ namespace, id }: Place, error: unknown): unknown =>
  error instanceof Outcome ? new ConfigProblems([`${namespace}/${id}: ${error.message}`]) : error;

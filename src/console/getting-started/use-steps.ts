import { useState } from 'react';
import { number, object, optional, text } from '../data/guard.ts';
import { type Meta, sourceState } from '../data/meta.ts';
import { type Resource, useResource, useWhile } from '../data/queries.ts';
import { metaOf, recordsOf } from '../data/records.ts';
import { useAtom } from '../data/use-atom.ts';
import { hasWatched } from './choice.ts';

export const STEPS = ['hello', 'model', 'agent', 'watch'] as const;
export type Step = (typeof STEPS)[number];

export type Done = Readonly<Record<Step, boolean>>;

/** Other clients may complete a step while the guide is open. The records of a complete step are not polled. */
const EVERY = 5000;

const RunCount = object({ total: number });
const runCount: Resource<ReturnType<typeof RunCount>> = {
  path: '/v1/runs',
  query: { limit: 1 },
  guard: RunCount,
};

const PROVIDERS = recordsOf('providers', object({ id: text, adapter: optional(text) }));
const MODELS = recordsOf('models', object({ id: text, provider_id: text }));
const META = metaOf('agents');

/** The adapter of models without a network. */
const SCRIPTED = 'scripted';

/** Whether a model of a real provider exists; undefined while unknown. */
const useModelStep = (): boolean | undefined => {
  const [isDone, setDone] = useState(false);
  const every = isDone ? undefined : EVERY;
  const providers = useResource({ ...PROVIDERS, every }).data;
  const models = useResource({ ...MODELS, every }).data;
  if (!providers || !models) return undefined;
  const real = new Set(providers.filter(({ adapter }) => adapter !== SCRIPTED).map(({ id }) => id));
  const exists = models.some(({ provider_id }) => real.has(provider_id));
  if (exists !== isDone) setDone(exists);
  return exists;
};

const hasOwnAgent = (meta: ReadonlyMap<string, Meta>): boolean =>
  [...meta.values()].some((one) => sourceState(one) === 'user');

/** The steps that are complete; undefined while unknown, and where the service has no configuration. */
export const useSteps = (): Done | undefined => {
  const runs = useWhile(runCount, ({ total }) => total === 0, EVERY).data;
  const model = useModelStep();
  const meta = useWhile(META, (read) => !hasOwnAgent(read), EVERY).data;
  const isWatched = useAtom(hasWatched);
  if (!runs || model === undefined || !meta) return undefined;
  return { hello: runs.total > 0, model, agent: hasOwnAgent(meta), watch: runs.total > 0 && isWatched };
};

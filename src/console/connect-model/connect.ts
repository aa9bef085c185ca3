import { anything } from '../data/guard.ts';
import { changed } from '../data/records.ts';
import { pathOf, send } from '../data/request.ts';
import type { Candidate } from './use-preview.ts';

/** Creates a provider, a model and an agent, one after the other. */

export const PARTS = ['providers', 'models', 'agents'] as const;
export type Part = (typeof PARTS)[number];

export type Ids = Readonly<Record<Part, string>>;

export type Plan = {
  candidate: Candidate;
  upstream: string;
  ids: Ids;
  /** The prompt of the agent; undefined if no agent is wanted. */
  prompt: string | undefined;
};

/** An id in the form that entries accept, made from a name such as `openai/gpt-4o`. */
export const idFrom = (name: string): string =>
  name
    .slice(name.lastIndexOf('/') + 1)
    .toLowerCase()
    .slice(0, 60)
    .replace(/[^a-z0-9._-]+/g, '-')
    .replace(/^[^a-z0-9]+/, '')
    .replace(/(?<=[a-z0-9])[^a-z0-9]+$/, '') || 'model';

const bodiesOf = ({ candidate, upstream, ids, prompt }: Plan): (readonly [Part, object])[] => [
  ['providers', { id: ids.providers, ...candidate }],
  ['models', { id: ids.models, provider_id: ids.providers, upstream_model: upstream }],
  ...(prompt === undefined
    ? []
    : [['agents', { id: ids.agents, model_id: ids.models, system_prompt: prompt }] as const]),
];

/**
 * Creates the parts of the plan that do not exist yet, and reports each one.
 *
 * @throws RequestError of the part that could not be created; `created` then names the existing ones
 */
export const connectModel = async (
  plan: Plan,
  created: ReadonlySet<Part>,
  onCreated: (part: Part) => void,
): Promise<void> => {
  for (const [part, body] of bodiesOf(plan)) {
    if (created.has(part)) continue;
    await send({ method: 'POST', path: pathOf`/v1/config/${part}`, body }, anything);
    onCreated(part);
    changed(part);
  }
};

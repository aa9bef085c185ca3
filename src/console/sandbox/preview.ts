import { isObject, list, object, optional, text } from '../data/guard.ts';
import type { Draft } from '../data/spec.ts';

/** The part of a draft that a preview sends, and facts about the model that will respond. */

export type SandboxProps = {
  draft: Draft;
  /** Undefined for an agent that was never stored and thus has no runs. */
  storedId: string | undefined;
};

/** A preview always runs in this service, so fields that place the agent elsewhere are left out. */
const NOT_SENT = new Set(['backend', 'endpoint', 'registry']);

export const previewAgent = (draft: Draft): Draft => {
  const sent = Object.fromEntries(Object.entries(draft).filter(([name]) => !NOT_SENT.has(name)));
  return { ...sent, id: draft.id, model_id: modelOf(draft) };
};

export const modelOf = ({ model_id, backend }: Draft): string => {
  const config = isObject(backend) ? backend.config : undefined;
  const own = typeof model_id === 'string' ? model_id : '';
  return own || (isObject(config) && typeof config.model_id === 'string' ? config.model_id : '');
};

export type Blocked = 'remote' | 'noModel';

/** @param localKind kind of the backend that runs agents in this service */
export const blockedBy = (draft: Draft, localKind: string | undefined): Blocked | undefined => {
  const kind = isObject(draft.backend) ? draft.backend.kind : undefined;
  const isRemote =
    typeof kind === 'string' && localKind !== undefined && kind !== localKind && kind !== 'local';
  const has = (field: unknown): boolean => field !== undefined && field !== null;
  if (isRemote || has(draft.endpoint) || has(draft.registry)) return 'remote';
  return modelOf(draft).trim() === '' ? 'noModel' : undefined;
};

export const Model = object({ id: text, provider_id: text });
export type Model = ReturnType<typeof Model>;

export const Pool = object({ id: text, members: list(object({ model_id: text })) });
export type Pool = ReturnType<typeof Pool>;

export const Provider = object({ id: text, adapter: optional(text) });
export type Provider = ReturnType<typeof Provider>;

/** The models that an id refers to: the model itself, or the members of a pool. */
export const modelsBehind = (id: string, models: readonly Model[], pools: readonly Pool[]): Model[] => {
  const pool = pools.find((candidate) => candidate.id === id);
  const ids = pool ? pool.members.map(({ model_id }) => model_id) : [id];
  return models.filter((model) => ids.includes(model.id));
};

export const isScripted = (models: readonly Model[], providers: readonly Provider[]): boolean =>
  models.length > 0 &&
  models.every(({ provider_id }) => providers.find(({ id }) => id === provider_id)?.adapter === 'scripted');

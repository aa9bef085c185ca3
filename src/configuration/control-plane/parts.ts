import { managedSkill, type Skill } from '../../plugins/skills/skill.ts';
import type { AgentSpec } from '../../schema/agent.ts';
import { parseAgent } from '../../schema/agent-json.ts';
import type { JsonObject } from '../../schema/endpoint.ts';
import { ModelSpec, PoolSpec, ProviderSpec } from '../../schema/model.ts';
import { parseEntry } from '../../schema/problems.ts';
import type { ResourceKind } from '../../schema/publication.ts';
import type { Tool } from '../../tools/tool.ts';
import { hashOf } from './canonical.ts';

/**
 * The parts of a snapshot. A part has two forms: the value that a publication stores, and the entry that a registry is
 * built from. Both are immutable, so snapshots share equal parts.
 */

type EntryOf = {
  agent: AgentSpec;
  model: ModelSpec;
  model_pool: PoolSpec;
  /** Includes its key, unlike the value. */
  provider: ProviderSpec;
  tool: Tool;
  skill: Skill;
};

export type PartOf<Kind extends ResourceKind> = {
  kind: Kind;
  id: string;
  value: JsonObject;
  /** Returns the hash of the value. */
  hash(): string;
  entry: EntryOf[Kind];
};
export type Part = { [Kind in ResourceKind]: PartOf<Kind> }[ResourceKind];

export const makePart = <Kind extends ResourceKind>(
  kind: Kind,
  { id, value, entry }: { id: string; value: JsonObject; entry: EntryOf[Kind] },
): PartOf<Kind> => {
  let hash: string | undefined;
  return {
    kind,
    id,
    value,
    entry,
    hash() {
      hash ??= hashOf(value);
      return hash;
    },
  };
};

/** Returns the entries of one kind. */
export const entriesOf = <Kind extends ResourceKind>(parts: readonly Part[], kind: Kind): EntryOf[Kind][] =>
  parts.filter((part): part is Extract<Part, PartOf<Kind>> => part.kind === kind).map(({ entry }) => entry);

/** @throws Invalid when the value is no longer valid */
const MAKERS = {
  agent: (id, value) => makePart('agent', { id, value, entry: parseAgent(value) }),
  model: (id, value) => makePart('model', { id, value, entry: parseEntry('model spec', ModelSpec, value) }),
  model_pool: (id, value) =>
    makePart('model_pool', { id, value, entry: parseEntry('model pool spec', PoolSpec, value) }),
  provider: (id, { api_key, ...value }) => {
    const spec = api_key === undefined ? value : { ...value, api_key };
    return makePart('provider', { id, value, entry: parseEntry('provider spec', ProviderSpec, spec) });
  },
  skill: (id, value) => makePart('skill', { id, value, entry: managedSkill(value) }),
} satisfies Record<Exclude<ResourceKind, 'tool'>, (id: string, spec: JsonObject) => Part>;

/** @throws Invalid */
export const createPart = (kind: Exclude<ResourceKind, 'tool'>, id: string, spec: JsonObject): Part =>
  MAKERS[kind](id, spec);

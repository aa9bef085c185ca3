import {
  type Guarded,
  isObject,
  list,
  number,
  object,
  optional,
  text,
  withDefault,
} from '../../data/guard.ts';
import { recordsOf } from '../../data/records.ts';
import { type EntryKind, type Errors, objectOf, type Spec, textOf } from '../../entry/entry.ts';
import { say } from '../../i18n/locale.ts';
import { texts } from './texts.ts';

export const POOL: EntryKind = { namespace: 'model-pools', entity: 'entity.modelPool' };

export const ROLES = ['member', 'failover_only'] as const;
export type Role = (typeof ROLES)[number];
export const HOMES = ['deterministic', 'round_robin', 'first_healthy'] as const;
export const SCOPES = ['thread', 'run'] as const;

const Pool = object({
  id: text,
  members: withDefault(list(object({ model_id: text, weight: optional(number), role: optional(text) })), []),
  routing: optional(object({ home: optional(text) })),
});
export type Pool = Guarded<typeof Pool>;

export const POOLS = recordsOf('model-pools', Pool);

export type Member = { model_id: string; weight: unknown; role: Role };

/** As they are typed: a weight may be anything. */
export const membersOf = ({ members }: Spec): Member[] =>
  (Array.isArray(members) ? members : []).filter(isObject).map((member) => ({
    ...member,
    model_id: textOf(member.model_id),
    weight: member.weight ?? 1,
    role: member.role === 'failover_only' ? 'failover_only' : 'member',
  }));

export const homeOf = ({ routing }: Spec): string => textOf(objectOf(routing).home) || 'deterministic';

const isWeight = (weight: unknown): boolean =>
  typeof weight === 'number' && Number.isInteger(weight) && weight > 0;

const memberProblem = (members: readonly Member[]): string | undefined => {
  if (members.length === 0) return say(texts, 'problem.members');
  if (members.some(({ model_id }) => model_id === '')) return say(texts, 'problem.model');
  const ids = members.map(({ model_id }) => model_id);
  const twice = ids.find((id, index) => ids.indexOf(id) !== index);
  if (twice !== undefined) return say(texts, 'problem.duplicate', { id: twice });
  if (!members.every(({ weight }) => isWeight(weight))) return say(texts, 'problem.weight');
  return members.some(({ role }) => role === 'member') ? undefined : say(texts, 'problem.home');
};

/** A number of the rules for switching, which is left out where nothing is typed. */
const switchProblems = (draft: Spec): [string, string][] =>
  ['quota_retry_after_threshold_secs', 'max_switches_per_session'].flatMap((field) => {
    const value = objectOf(draft.switch)[field];
    const isCount = typeof value === 'number' && Number.isInteger(value) && value >= 0;
    return value === undefined || value === null || isCount
      ? []
      : [[`switch.${field}`, say(texts, 'problem.count')] as [string, string]];
  });

export const FIELDS = ['members', 'routing', 'switch'];

/** @param models their ids: a pool cannot have them */
export const check =
  (models: ReadonlySet<string>) =>
  (draft: Spec): Errors => {
    const members = memberProblem(membersOf(draft));
    return new Map([
      ...(models.has(draft.id) ? [['id', say(texts, 'problem.taken')] as const] : []),
      ...(members === undefined ? [] : [['members', members] as const]),
      ...switchProblems(draft),
    ]);
  };

/** One step up or down. */
export const moved = <Item>(items: readonly Item[], from: number, by: 1 | -1): Item[] => {
  const next = [...items];
  const [item] = next.splice(from, 1);
  if (item !== undefined) next.splice(from + by, 0, item);
  return next;
};

export type Pick = { model_id: string; share: number };

/** Who is asked while these are down: home members first, then whoever is left. */
export const picksOf = (members: readonly Member[], home: string, down: ReadonlySet<string>): Pick[] => {
  const up = members.filter(({ model_id }) => model_id !== '' && !down.has(model_id));
  const atHome = up.filter(({ role }) => role === 'member');
  const eligible = atHome.length > 0 ? atHome : up;
  if (home === 'first_healthy') return eligible.slice(0, 1).map(({ model_id }) => ({ model_id, share: 1 }));
  const weightOf = ({ weight }: Member): number => (typeof weight === 'number' && weight > 0 ? weight : 0);
  const total = eligible.reduce((sum, member) => sum + weightOf(member), 0);
  return eligible
    .map((member) => ({ model_id: member.model_id, share: total === 0 ? 0 : weightOf(member) / total }))
    .filter(({ share }) => share > 0);
};

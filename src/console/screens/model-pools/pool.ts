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
import { objectOf, type Spec, textOf } from '../../entry/entry.ts';
import type { Found } from '../../entry/use-entry.ts';
import { say } from '../../i18n/locale.ts';
import texts from './texts.json' with { type: 'json' };

const Pool = object({
  id: text,
  members: withDefault(list(object({ model_id: text, weight: optional(number), role: optional(text) })), []),
  routing: optional(object({ home: optional(text) })),
});
export type Pool = Guarded<typeof Pool>;

export const POOLS = recordsOf('model-pools', Pool);

export type Member = { model_id: string; weight: unknown; role: 'member' | 'failover_only' };

/** The members as typed, whose weight may be any value. */
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

export const check = (draft: Spec): Found[] => {
  const problem = memberProblem(membersOf(draft));
  return problem === undefined ? [] : [['members', problem]];
};

export type Pick = { model_id: string; share: number };

/** The members that receive requests while some are unavailable: home members first, otherwise the remaining ones. */
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

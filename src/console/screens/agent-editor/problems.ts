import { isObject, type JsonObject } from '../../data/guard.ts';
import { sectionsOf } from '../../data/spec.ts';
import { SETTINGS } from '../../model-settings/settings.ts';
import { isLocal, textsOf } from './draft.ts';
import type { Draft } from './panel.ts';

/** What is wrong with a draft as far as the console can tell, and where what the service says of it belongs. */

export type ProblemKey =
  | 'problem.required'
  | 'problem.id'
  | 'problem.idTaken'
  | 'problem.integer'
  | 'problem.positive'
  | 'problem.share'
  | 'problem.pattern';

export type Problem = { field: string; key: ProblemKey };

export const ID = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,127}$/;

const isCount = (value: unknown, least: number): boolean =>
  typeof value === 'number' && Number.isInteger(value) && value >= least;

const countProblem = (spec: JsonObject, field: string, at: string, least = 0): Problem[] =>
  isCount(spec[field], least) ? [] : [{ field: at, key: least > 0 ? 'problem.positive' : 'problem.integer' }];

/** Blank says: not set. */
const optionalCount = (spec: JsonObject, field: string, at: string): Problem[] =>
  spec[field] === undefined || spec[field] === null ? [] : countProblem(spec, field, at);

const STOP_NUMBERS = ['rounds', 'seconds', 'max_total', 'max', 'window'];

const stopProblems = (draft: JsonObject): Problem[] =>
  (Array.isArray(draft.stop_conditions) ? draft.stop_conditions : []).flatMap((item, index): Problem[] => {
    if (!isObject(item)) return [];
    const at = `stop_conditions.${index}`;
    const wrong = STOP_NUMBERS.some((field) => field in item && !isCount(item[field], 0));
    if (wrong) return [{ field: at, key: 'problem.integer' }];
    return item.tool_name === '' ? [{ field: at, key: 'problem.required' }] : [];
  });

const policyProblems = ({ context_policy: policy }: JsonObject): Problem[] => {
  if (!isObject(policy)) return [];
  const at = (field: string): string => `context_policy.${field}`;
  return [
    ...['max_context_tokens', 'max_output_tokens', 'min_recent_messages'].flatMap((field) =>
      countProblem(policy, field, at(field)),
    ),
    ...['autocompact_threshold', 'compaction_raw_suffix_messages'].flatMap((field) =>
      optionalCount(policy, field, at(field)),
    ),
  ];
};

const compactionProblems = (draft: JsonObject): Problem[] => {
  const { compaction } = sectionsOf(draft);
  if (!isObject(compaction)) return [];
  const at = (field: string): string => `sections.compaction.${field}`;
  const { min_savings_ratio: ratio } = compaction;
  return [
    ...['summarizer_system_prompt', 'summarizer_user_prompt'].flatMap((field): Problem[] =>
      compaction[field] ? [] : [{ field: at(field), key: 'problem.required' }],
    ),
    ...optionalCount(compaction, 'summary_max_tokens', at('summary_max_tokens')),
    ...(typeof ratio === 'number' && ratio >= 0 && ratio <= 1
      ? []
      : [{ field: at('min_savings_ratio'), key: 'problem.share' as const }]),
  ];
};

/** Tool ids have no parentheses, and a backslash takes the next character. */
export const isToolPattern = (pattern: string): boolean =>
  pattern !== '' && !pattern.includes('(') && !/(^|[^\\])(\\\\)*\\$/.test(pattern);

const patternProblems = (draft: JsonObject): Problem[] =>
  ['allowed_tool_patterns', 'excluded_tool_patterns']
    .filter((field) => !textsOf(draft[field]).every(isToolPattern))
    .map((field) => ({ field, key: 'problem.pattern' }));

const idProblems = (draft: Draft, taken: ReadonlySet<string>): Problem[] => {
  if (draft.id === '') return [{ field: 'id', key: 'problem.required' }];
  if (!ID.test(draft.id)) return [{ field: 'id', key: 'problem.id' }];
  return taken.has(draft.id) ? [{ field: 'id', key: 'problem.idTaken' }] : [];
};

/**
 * In the order in which the fields stand.
 * @param context.taken ids that a new agent cannot have
 */
export const problemsOf = (
  draft: Draft,
  context: { localKind: string; isNew: boolean; taken: ReadonlySet<string> },
): Problem[] => [
  ...(context.isNew ? idProblems(draft, context.taken) : []),
  ...(isLocal(draft, context.localKind) && !draft.model_id
    ? [{ field: 'model_id', key: 'problem.required' as const }]
    : []),
  ...countProblem(draft, 'max_rounds', 'max_rounds'),
  ...countProblem(draft, 'max_continuation_retries', 'max_continuation_retries'),
  ...effortProblems(draft),
  ...stopProblems(draft),
  ...patternProblems(draft),
  ...policyProblems(draft),
  ...compactionProblems(draft),
];

const effortProblems = ({ reasoning_effort: effort }: JsonObject): Problem[] =>
  isObject(effort) ? countProblem(effort, 'budget', 'reasoning_effort') : [];

// ---- what the service says ----

const SAID: readonly [pattern: RegExp, field: (match: RegExpMatchArray) => string][] = [
  [/provider_tools/, () => 'provider_tools'],
  [/section "([^"]+)" — ([\w.]+):/, ([, key = '', path = '']) => `sections.${key}.${path}`],
  [/section "([^"]+)" — missing field '([^']+)'/, ([, key = '', path = '']) => `sections.${key}.${path}`],
  [/section "([^"]+)"/, ([, key = '']) => `sections.${key}`],
  [/^provider_options/, () => 'provider_options'],
  [/(?:missing |unknown )?field '(stop|tool_choice)[[.'][^:]*/, ([, path = '']) => path],
  [/(?:missing |unknown )?field '([^']+)'/, ([, path = '']) => path],
  [/((?:allowed|excluded)_tool_patterns)\[/, ([, field = '']) => field],
  [/^(timeout|token_budget|content_match|loop_detection|stop_on_tool)\./, () => 'stop_conditions'],
  [/references missing model|model not found/, () => 'model_id'],
  [/uses missing plugin/, () => 'plugin_ids'],
  [/active hook filter/, () => 'active_hook_filter'],
  [/delegates? to missing agent|for delegate/, () => 'delegates'],
  [/already (exists|registered)/, () => 'id'],
  [/remote endpoint|base_url|backend/, () => 'backend'],
];

const PREFIX =
  /^(invalid payload: |invalid managed config: |registry validation failed: |invalid agent spec(?: patch)?: |conflict: )+/;

/** By field; what names none is under the empty one. */
export const fieldErrors = (message: string): ReadonlyMap<string, string> => {
  const errors = new Map<string, string>();
  for (const said of message.replace(PREFIX, '').split(/; /)) {
    const text = said.replace(PREFIX, '');
    const rule = SAID.find(([pattern]) => pattern.test(text));
    const match = rule && text.match(rule[0]);
    const field = rule && match ? rule[1](match) : '';
    errors.set(field, errors.has(field) ? `${errors.get(field)}; ${text}` : text);
  }
  return errors;
};

// ---- where a field is ----

export const TABS = ['basics', 'tools', 'plugins', 'delegates', 'advanced', 'history', 'skills'] as const;
export type Tab = (typeof TABS)[number];

const PLACES: readonly [prefix: string, tab: Tab][] = [
  ['sections.compaction', 'advanced'],
  ['sections.skills', 'skills'],
  ['sections', 'plugins'],
  ['plugin_ids', 'plugins'],
  ['active_hook_filter', 'plugins'],
  ['allowed_', 'tools'],
  ['excluded_', 'tools'],
  ['delegates', 'delegates'],
  ['context_policy', 'advanced'],
  // The effort is one of the basics.
  ...SETTINGS.filter((name) => name !== 'reasoning_effort').map((name): [string, Tab] => [name, 'advanced']),
];

export const tabOf = (field: string): Tab =>
  PLACES.find(([prefix]) => field.startsWith(prefix))?.[1] ?? 'basics';

/** How many of them a tab has. */
export const countByTab = (fields: Iterable<string>): ReadonlyMap<Tab, number> => {
  const counts = new Map<Tab, number>();
  for (const field of fields) counts.set(tabOf(field), (counts.get(tabOf(field)) ?? 0) + 1);
  return counts;
};

import { isObject, type JsonObject } from '../../data/guard.ts';
import type { Capabilities } from '../../data/resources.ts';
import { type Draft, sectionsOf } from '../../data/spec.ts';
import { problemsIn, type Problem as SchemaProblem } from '../../schema-form/check.ts';
import { isLocal, textsOf } from './draft.ts';

/** Validation of a draft in the console, and assignment of the service's messages to fields. */

/** The section `compaction`, which no plugin describes: how old messages are summarized. */
export const COMPACTION = {
  type: 'object',
  required: ['summarizer_system_prompt', 'summarizer_user_prompt', 'min_savings_ratio'],
  properties: {
    mode: { enum: ['background', 'off'], default: 'background' },
    summarizer_system_prompt: { type: 'string', minLength: 1 },
    summarizer_user_prompt: { type: 'string', minLength: 1 },
    summary_max_tokens: { type: 'integer', minimum: 1, default: 1024 },
    min_savings_ratio: { type: 'number', minimum: 0, maximum: 1 },
    summary_model: { type: 'string', minLength: 1 },
  },
};

export const FIRST_COMPACTION = {
  mode: 'background',
  summarizer_system_prompt: 'You summarise conversations: facts, decisions and open questions, in few words.',
  summarizer_user_prompt: 'Summary so far:\n{previous_summary}\n\nMessages:\n{messages}',
  summary_max_tokens: 1024,
  min_savings_ratio: 0.3,
  raw_retention: 'preserve_durable',
};

type Problem = SchemaProblem | { path: string; key: 'problem.idTaken' | 'problem.tools' };

/** Tool ids contain no parentheses, and a backslash escapes the next character. */
export const isToolPattern = (pattern: string): boolean =>
  pattern !== '' && !pattern.includes('(') && !/(^|[^\\])(\\\\)*\\$/.test(pattern);

const patternProblems = (draft: JsonObject): Problem[] =>
  ['allowed_tool_patterns', 'excluded_tool_patterns']
    .filter((path) => !textsOf(draft[path]).every(isToolPattern))
    .map((path) => ({ path, key: 'problem.tools' }));

/** Sections of disabled plugins are not checked. */
const sectionProblems = (draft: Draft, plugins: Capabilities['plugins']): Problem[] => {
  const on = new Set(textsOf(draft.plugin_ids));
  const sections = sectionsOf(draft);
  return [
    ...plugins.filter(({ id }) => on.has(id)).flatMap(({ config_schemas: schemas }) => schemas),
    { key: 'compaction', schema: COMPACTION },
  ].flatMap(({ key, schema }) =>
    key in sections ? problemsIn(schema, sections[key], schema, `sections.${key}`) : [],
  );
};

const backendProblems = ({ backend }: Draft, { backends }: Capabilities): Problem[] => {
  const known = isObject(backend) && backends.find(({ kind }) => kind === backend.kind);
  return known ? problemsIn(known.schema, backend.config ?? {}, known.schema, 'backend.config') : [];
};

type CheckContext = {
  localKind: string;
  /** Ids that a new agent must not use. */
  taken: ReadonlySet<string> | undefined;
  capabilities: Capabilities;
};

/** Problems that the schema of agents does not express. */
export const agentProblems = (draft: Draft, { localKind, taken, capabilities }: CheckContext): Problem[] => {
  const local = isLocal(draft, localKind);
  return [
    ...(taken?.has(draft.id) ? [{ path: 'id', key: 'problem.idTaken' } as const] : []),
    ...(local && !draft.model_id ? [{ path: 'model_id', key: 'problem.required' } as const] : []),
    ...patternProblems(draft),
    ...(local ? [] : backendProblems(draft, capabilities)),
    ...sectionProblems(draft, capabilities.plugins),
  ];
};

// ---- Messages of the service ----

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

/** The field that a message of the service concerns. */
export const agentFieldIn = (text: string): string | undefined => {
  const rule = SAID.find(([pattern]) => pattern.test(text));
  const match = rule && text.match(rule[0]);
  return rule && match ? rule[1](match) : undefined;
};

// ---- Tabs of fields ----

export const TABS = [
  'basics',
  'tools',
  'plugins',
  'delegates',
  'advanced',
  'history',
  'skills',
  'connect',
] as const;
export type Tab = (typeof TABS)[number];

const PLACES: readonly [fields: RegExp, tab: Tab][] = [
  [/^sections\.compaction/, 'advanced'],
  [/^sections\.skills/, 'skills'],
  [/^(sections|plugin_ids|active_hook_filter)/, 'plugins'],
  [/^(allowed|excluded|provider)_tool/, 'tools'],
  [/^delegates/, 'delegates'],
  [
    /^(id|description|backend|model_id|system_prompt|max_rounds|max_continuation_retries|reasoning_effort|stop_conditions)/,
    'basics',
  ],
];

export const tabOf = (field: string): Tab => PLACES.find(([fields]) => fields.test(field))?.[1] ?? 'advanced';

/** Number of fields in each tab. */
export const countByTab = (fields: Iterable<string>): ReadonlyMap<Tab, number> => {
  const counts = new Map<Tab, number>();
  for (const field of fields) counts.set(tabOf(field), (counts.get(tabOf(field)) ?? 0) + 1);
  return counts;
};

import type { CallPart } from '../chat/call.ts';
import { toolOf } from '../chat/call.ts';
import { isObject, type JsonObject } from '../data/guard.ts';

/** Drafts, checks and writes of the assistant, read from the results of its tools (config.md 11.4). */

export type Spec = JsonObject & { id: string };

export type Problem = {
  text: string;
  /** Tab of the editor where the problem can be fixed. */
  tab: string;
};

export type Action =
  | { kind: 'draft'; spec: Spec; problems: Problem[] }
  | { kind: 'published'; id: string }
  | { kind: 'refused'; problems: Problem[] }
  | { kind: 'valid'; spec: Spec | undefined; warnings: string[] };

const TABS: readonly (readonly [RegExp, string])[] = [
  [/model|system_prompt|max_rounds|description|reasoning_effort|'id'/i, 'basics'],
  [/delegate/i, 'delegates'],
  [/plugin|section/i, 'plugins'],
  [/skill/i, 'skills'],
  [/tool/i, 'tools'],
];

/** The service joins the problems of a refusal into one text, separated by semicolons. */
export const problemsIn = (errors: unknown): Problem[] =>
  (Array.isArray(errors) ? errors : [])
    .filter((error): error is string => typeof error === 'string')
    .flatMap((error) => error.replace(/^invalid payload: (invalid [^:]+: )?/, '').split('; '))
    .map((text) => ({ text, tab: TABS.find(([pattern]) => pattern.test(text))?.[1] ?? 'advanced' }));

const specIn = (value: unknown): Spec | undefined =>
  isObject(value) ? { ...value, id: typeof value.id === 'string' ? value.id : '' } : undefined;

const textsIn = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((one): one is string => typeof one === 'string') : [];

const FOUND: Readonly<Record<string, (output: JsonObject) => Action | undefined>> = {
  admin_create_agent_draft({ draft, errors }) {
    const spec = specIn(draft);
    return spec && { kind: 'draft', spec, problems: problemsIn(errors) };
  },
  admin_create_agent({ ok, agent, errors }) {
    if (ok !== true) return { kind: 'refused', problems: problemsIn(errors) };
    const id = specIn(agent)?.id;
    return id ? { kind: 'published', id } : undefined;
  },
  admin_validate_agent({ ok, normalized, warnings, errors }) {
    return ok === true
      ? { kind: 'valid', spec: specIn(normalized), warnings: textsIn(warnings) }
      : { kind: 'refused', problems: problemsIn(errors) };
  },
};

/** Undefined if the call needs no card in addition to the one of the call. */
export const actionOf = (part: CallPart): Action | undefined => {
  if (part.state !== 'output-available' || part.preliminary || !isObject(part.output)) return undefined;
  return FOUND[toolOf(part)]?.(part.output);
};

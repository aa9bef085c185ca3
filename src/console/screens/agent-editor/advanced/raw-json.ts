import { isObject, type JsonObject } from '../../../data/guard.ts';
import { fromEditable, MovedSecret, toEditable } from '../../../data/redaction.ts';
import { same } from '../../../data/spec.ts';
import { SETTINGS } from '../../../model-settings/settings.ts';
import type { Draft } from '../panel.ts';

/** A draft as a text that is edited, and the way back (console.md 4.3.4). */

const IDENTITY = ['id', 'created_at', 'updated_at', 'registry'];

/** Fields of an agent where the service does not say which it has. */
const FIELDS = [
  'id',
  'description',
  'backend',
  'model_id',
  'system_prompt',
  'max_rounds',
  'max_continuation_retries',
  'provider_tools',
  'client_tools',
  'client_system_messages',
  'stop_conditions',
  'context_policy',
  ...SETTINGS,
  'output_schema',
  'output_options',
  'plugin_ids',
  'active_hook_filter',
  'sections',
  'allowed_tools',
  'allowed_tool_patterns',
  'excluded_tools',
  'excluded_tool_patterns',
  'delegates',
  'endpoint',
  'registry',
];

export const rawText = (draft: Draft): string => JSON.stringify(toEditable(draft).value, null, 2);

export type Reading =
  | { draft: Draft }
  | {
      problem: 'raw.syntax' | 'raw.object' | 'raw.unknown' | 'raw.locked' | 'raw.secret';
      what: string;
    };

/**
 * @param allowed top-level fields that there are besides those of the draft
 * @param locked fields that stay as they are
 */
export const readRaw = (
  text: string,
  draft: Draft,
  { locked, allowed = FIELDS }: { locked: readonly string[]; allowed?: readonly string[] | undefined },
): Reading => {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { problem: 'raw.syntax', what: error instanceof Error ? error.message : '' };
  }
  if (!isObject(value)) return { problem: 'raw.object', what: '' };
  const unknown = Object.keys(value).filter((field) => !allowed.includes(field) && !(field in draft));
  if (unknown.length > 0) return { problem: 'raw.unknown', what: unknown.join(', ') };
  return restored(value, draft, locked);
};

const restored = (value: JsonObject, draft: Draft, locked: readonly string[]): Reading => {
  try {
    const spec = fromEditable(value, toEditable(draft).secrets);
    if (!isObject(spec)) return { problem: 'raw.object', what: '' };
    const moved = locked.filter((field) => !same(spec[field], draft[field]));
    if (moved.length > 0) return { problem: 'raw.locked', what: moved.join(', ') };
    return { draft: { ...spec, id: typeof spec.id === 'string' ? spec.id : '' } };
  } catch (error) {
    if (error instanceof MovedSecret) return { problem: 'raw.secret', what: error.path };
    throw error;
  }
};

/** What nobody may change here: of a new agent the name is still open. */
export const lockedFields = (isNew: boolean, isRemote: boolean): string[] => [
  ...IDENTITY.filter((field) => !isNew || field !== 'id'),
  ...(isRemote ? [] : ['endpoint']),
];

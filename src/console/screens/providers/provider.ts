import type { Adapter } from '../../connect-model/adapters.ts';
import {
  flag,
  type Guarded,
  isObject,
  type JsonObject,
  object,
  optional,
  text,
  withDefault,
} from '../../data/guard.ts';
import { recordsOf } from '../../data/records.ts';
import { withoutUndefined } from '../../data/spec.ts';
import { objectOf, type Spec, textOf } from '../../entry/entry.ts';
import type { Found } from '../../entry/use-entry.ts';
import { say } from '../../i18n/locale.ts';
import texts from './texts.json' with { type: 'json' };

const Provider = object({
  id: text,
  adapter: text,
  base_url: optional(text),
  has_api_key: withDefault(flag, false),
});
export type Provider = Guarded<typeof Provider>;

export const PROVIDERS = recordsOf('providers', Provider);

/** Used if the service does not list its adapters. */
export const USUAL_ADAPTERS = ['anthropic', 'openai', 'gemini', 'ollama'];

export const isAccount = ({ adapter, adapter_options }: JsonObject): boolean =>
  adapter === 'vertex' && objectOf(adapter_options).credentials_kind === 'service_account_json';

const isAccountKey = (key: string): boolean => {
  try {
    const account: unknown = JSON.parse(key);
    return isObject(account) && textOf(account.client_email) !== '' && textOf(account.private_key) !== '';
  } catch {
    return false;
  }
};

export const check = (draft: Spec): Found[] => {
  const key = textOf(draft.api_key);
  return isAccount(draft) && key !== '' && !isAccountKey(key)
    ? [['api_key', say(texts, 'problem.account')]]
    : [];
};

/** The options of an adapter that have an input: its own, and headers. */
export const optionSchema = ({ id, options }: Adapter): JsonObject => ({
  type: 'object',
  properties: {
    ...(id === 'vertex' && { credentials_kind: { type: 'string', enum: ['service_account_json'] } }),
    ...Object.fromEntries(
      options.map(({ name, is_secret, choices }) => [
        name,
        {
          title: name,
          type: 'string',
          ...(choices && { enum: choices }),
          ...(is_secret && { writeOnly: true }),
        },
      ]),
    ),
    headers: { type: 'object', additionalProperties: { type: 'string' } },
  },
});

/** Divides options into those with an input, according to their schema, and all others. */
export const divided = (options: unknown, schema: JsonObject): { known: JsonObject; others: JsonObject } => {
  const known: JsonObject = {};
  const others: JsonObject = {};
  for (const [name, option] of Object.entries(objectOf(options)))
    (name in objectOf(schema.properties) ? known : others)[name] = option;
  return { known, others };
};

/** Options without empty parts; undefined if none is left. */
export const optionsOf = (options: JsonObject): JsonObject | undefined => {
  const { headers, ...rest } = withoutUndefined(options);
  const whole = { ...rest, ...(Object.keys(objectOf(headers)).length > 0 && { headers }) };
  return Object.keys(whole).length === 0 ? undefined : whole;
};

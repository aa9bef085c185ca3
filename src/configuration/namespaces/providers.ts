import { parseServiceAccount } from '../../models/google-token.ts';
import { checkProviderOptions, checkUsable } from '../../models/provider.ts';
import { readCredentialsKind } from '../../models/provider-options.ts';
import { isObject, type JsonObject, REDACTED } from '../../schema/endpoint.ts';
import { ProviderSpec } from '../../schema/model.ts';
import { Invalid } from '../../schema/outcome.ts';
import { parseEntry } from '../../schema/problems.ts';
import { fillMarkers, findMarker, redact } from '../../schema/redaction/redact.ts';
import { entrySchema } from './json-schema.ts';
import { type Namespace, PLAIN, withoutOverrides } from './namespace.ts';

/**
 * Implements config.md 3.4. The key is write-only: a replacement without it keeps the stored one, an empty one or null
 * clears it. Nothing is sent to the provider here.
 */
export const providersNamespace: Namespace = {
  ...PLAIN,
  name: 'providers',
  schema: entrySchema('Provider', ProviderSpec),
  prepare: (given, stored, dropped) => {
    const isKept = given.api_key === undefined && isKey(stored?.api_key);
    const marked = isKept ? { ...given, api_key: REDACTED } : given;
    const filled = fillMarkers(marked, stored, { dropped });
    const { has_api_key: _, api_key: key, ...rest } = withoutLostApplication(filled, given);
    return key === undefined || key === null || key === '' ? rest : { ...rest, api_key: key };
  },
  check: (spec) => {
    const provider = parse(spec);
    checkProviderOptions(provider);
    if (provider.api_key && readCredentialsKind(provider) === 'service_account_json') {
      parseServiceAccount(provider.api_key);
    }
    const marker = findMarker(spec);
    if (marker) throw new Invalid(`provider ${marker.join('.')} cannot be a redacted placeholder`);
    return spec;
  },
  usable: (spec, dropped = []) => {
    if (dropped.length === 0) checkUsable(parse(spec));
  },
  redact: ({ api_key, ...rest }) => ({
    ...withChoices(redact(rest), rest),
    ...(isKey(api_key) && { has_api_key: true }),
  }),
  // An entry without a key stays without one.
  restored: (payload) => ({ api_key: '', ...payload }),
  effective: withoutOverrides('providers'),
};

/** The options of an application are given together, so they would be invalid without its secret. */
const withoutLostApplication = (spec: JsonObject, given: JsonObject): JsonObject => {
  const { adapter_options: options, ...rest } = spec;
  const isMarked = isObject(given.adapter_options) && given.adapter_options.client_secret === REDACTED;
  if (!isMarked || !isObject(options) || options.client_secret !== undefined) return spec;
  const { tenant_id: _, client_id: _id, ...others } = options;
  return { ...rest, adapter_options: others };
};

/** Enumerated options whose names look like secrets. */
const CHOICES = ['credentials_kind', 'allow_env_credentials'];

const withChoices = (shown: JsonObject, { adapter_options: given }: JsonObject): JsonObject => {
  if (!isObject(given) || !isObject(shown.adapter_options)) return shown;
  const choices = Object.entries(given).filter(([key]) => CHOICES.includes(key));
  // The parts are JSON.
  const options = { ...shown.adapter_options, ...Object.fromEntries(choices) } as JsonObject;
  return { ...shown, adapter_options: options };
};

const isKey = (key: JsonObject[string] | undefined): boolean => typeof key === 'string' && key !== '';

const parse = (spec: JsonObject): ProviderSpec => parseEntry('provider spec', ProviderSpec, spec);

import type { ReasoningEffort } from '../../schema/model-settings.ts';
import { nearestNamedEffort } from '../effort.ts';

/**
 * The efforts that model families accept by name, as their providers document them. An effort that a model lacks is
 * replaced by the nearest one, because the provider would otherwise reject the whole request.
 */

const SCALE = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;
export type WireEffort = (typeof SCALE)[number];

const NONE: readonly WireEffort[] = [];
const LOW_TO_HIGH: readonly WireEffort[] = ['low', 'medium', 'high'];

type Row = readonly [name: RegExp, efforts: readonly WireEffort[], adapter?: string];

/** The first matching row applies. A name may have the prefix of a gateway. */
const ROWS: readonly Row[] = [
  [/^o1-(mini|preview)/, NONE],
  [/^o\d/, LOW_TO_HIGH],
  [/^gpt-5-chat/, NONE],
  [/^gpt-5\.\d+-chat/, ['medium']],
  [/^gpt-5-pro/, ['high']],
  [/^gpt-5-codex/, LOW_TO_HIGH],
  [/^gpt-5(?![.\d])/, ['minimal', ...LOW_TO_HIGH]],
  [/^gpt-5\.1-codex-max/, [...LOW_TO_HIGH, 'xhigh']],
  [/^gpt-5\.1-codex/, LOW_TO_HIGH],
  [/^gpt-5\.1(?!\d)/, ['none', ...LOW_TO_HIGH]],
  [/^gpt-5\.\d+-pro/, ['medium', 'high', 'xhigh']],
  [/^gpt-5\.\d+-codex/, [...LOW_TO_HIGH, 'xhigh']],
  [/^gpt-5\.[2-5](?!\d)/, ['none', ...LOW_TO_HIGH, 'xhigh']],
  [/^gpt-5\./, ['none', ...LOW_TO_HIGH, 'xhigh', 'max']],
  [/^gpt-(6-sol|6-luna|6\.1-terra)$/, ['none', ...LOW_TO_HIGH, 'xhigh', 'max']],
  [/^gpt-([6-9]|1\d)(?!\d)/, [...LOW_TO_HIGH, 'xhigh', 'max']],
  [/^(gpt-(3\.5|4)|chatgpt-4o)/, NONE],
  [/^gpt-oss/, LOW_TO_HIGH],
  [/^grok-3-mini/, ['low', 'high'], 'xai'],
  [/^grok-(4\.([3-9]|1\d)|[5-9]|latest)/, ['none', ...LOW_TO_HIGH], 'xai'],
  [/^grok-/, NONE, 'xai'],
  [/^magistral/, NONE, 'mistral'],
  [/./, ['none', 'high'], 'mistral'],
  // Claude on Bedrock has the same efforts as elsewhere, which are not in this table.
  [/openai\.gpt-oss/, LOW_TO_HIGH, 'bedrock'],
  [/nova-2/, ['none', ...LOW_TO_HIGH], 'bedrock'],
  [/./, NONE, 'bedrock'],
];

/** Accepted by gateways, and assumed for unknown services. */
const COMMON: readonly WireEffort[] = ['none', ...LOW_TO_HIGH];

/** In ascending order; empty if the model rejects the setting. */
export function acceptedEfforts(upstream: string, adapter: string | undefined): readonly WireEffort[] {
  const name = upstream.replace(/^openai\//, '');
  const row = ROWS.find(
    ([pattern, , only]) => pattern.test(name) && (only === undefined || only === adapter),
  );
  return row?.[1] ?? COMMON;
}

/** The nearest accepted effort, the higher one of two equally near; undefined if none is accepted. */
export function wireEffort(
  effort: ReasoningEffort,
  upstream: string,
  adapter: string | undefined,
): WireEffort | undefined {
  const wanted = SCALE.indexOf(nearestNamedEffort(effort));
  const distance = (each: WireEffort): number => Math.abs(SCALE.indexOf(each) - wanted);
  return acceptedEfforts(upstream, adapter).reduce<WireEffort | undefined>(
    (best, each) => (best === undefined || distance(each) <= distance(best) ? each : best),
    undefined,
  );
}

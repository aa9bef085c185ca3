import type { Problem } from '../../activity/Problems.tsx';
import { currentError, modelsIn, runsIn, shareOf } from '../../activity/stats.ts';
import { redactText } from '../../data/redact-text.ts';
import type { AgentStats, Diagnostic, McpStatus, ModelStats } from '../../data/resources.ts';
import type { Say } from '../../i18n/locale.ts';
import { type Run, runHref } from '../../run-records/run.ts';
import { waitsForDecision } from '../../run-records/waiting.ts';
import { problemOf } from '../diagnostics/diagnosed-resource.ts';
import type { Tested } from '../providers/tests.ts';
import type texts from './texts.json';

/** Required actions of the operator, most severe first. A cause that a failing agent names is not repeated. */

export type Known = {
  agents: readonly AgentStats[];
  /** Ids of configured agents, since statistics outlive their agents; undefined while unknown. */
  configured: ReadonlySet<string> | undefined;
  /** Ids of configured providers; undefined while unknown. */
  providers: ReadonlySet<string> | undefined;
  diagnostics: readonly Diagnostic[];
  waiting: readonly Run[];
  servers: readonly { id: string; status: McpStatus }[];
  tests: ReadonlyMap<string, readonly Tested[]>;
  changed: ReadonlyMap<string, number>;
};

type T = Say<keyof typeof texts>;

const providerHref = (id: string): string => `/providers?edit=${encodeURIComponent(id)}`;
const agentHref = (id: string): string => `/agents/${encodeURIComponent(id)}/dashboard`;

const CAUSES = ['unauthorized', 'rate_limited', 'overloaded', 'timeout', 'model_not_found'] as const;

/** A test that succeeded, or a change of the provider, may have repaired it; or it was deleted. */
const isOutdated = ({ providers, tests, changed }: Known, provider: string, at: number): boolean => {
  const [test] = tests.get(provider) ?? [];
  const isRepaired = (test?.ok === true && test.at > at) || (changed.get(provider) ?? 0) > at;
  return isRepaired || providers?.has(provider) === false;
};

const causeOf = (known: Known, models: readonly ModelStats[]): ModelStats | undefined =>
  models
    .filter((model) => {
      const error = currentError(model);
      return error && !isOutdated(known, model.provider_id, error.at);
    })
    .sort((a, b) => (b.last_error?.at ?? 0) - (a.last_error?.at ?? 0))[0];

const causeText = (t: T, { provider_id: provider, model, last_error }: ModelStats): string => {
  const cause = CAUSES.find((one) => one === last_error?.class);
  return t(cause ? `cause.${cause}` : 'cause.other', { provider, model, class: last_error?.class ?? '' });
};

/** Failures that the next run will have, too. */
const LASTING: readonly (string | undefined)[] = ['unauthorized', 'model_not_found'];

/** A smaller share of failed runs is reported only if its cause lasts. */
const MANY_FAILED = 0.2;
/** Fewer failures are not reported after a run that succeeded. */
const FEWEST_FAILED = 5;

const agentLinks = (
  t: T,
  { agent_id: id, last_run: last }: AgentStats,
  cause: ModelStats | undefined,
): Problem['links'] => [
  ...(cause ? [{ text: t('open.provider'), href: providerHref(cause.provider_id) }] : []),
  ...(last?.termination === 'error' ? [{ text: t('open.run'), href: runHref(last.run_id) }] : []),
  { text: t('open.agent'), href: agentHref(id) },
];

const agentNeeds = (t: T, known: Known): (Problem & { provider?: string })[] =>
  known.agents.flatMap((agent) => {
    const { agent_id: id, failed_runs: failed, last_run: last } = agent;
    const all = runsIn(agent);
    const fails = last?.termination === 'error';
    const cause = fails ? causeOf(known, agent.inferences_by_model) : undefined;
    const isOften = shareOf(failed, all) >= MANY_FAILED && (fails || failed >= FEWEST_FAILED);
    if ((!isOften && !LASTING.includes(cause?.last_error?.class)) || known.configured?.has(id) === false)
      return [];
    const text = t('needed.agent', { id, failed, all });
    return {
      id: `agent/${id}`,
      tone: fails ? 'error' : 'warn',
      text: cause ? t('needed.because', { text, cause: causeText(t, cause) }) : text,
      ...(cause && { provider: cause.provider_id }),
      links: agentLinks(t, agent, cause),
    };
  });

const providerNeeds = (t: T, known: Known, named: ReadonlySet<string | undefined>): Problem[] => {
  const models = modelsIn(known.agents);
  const rejected = models.filter((model) => {
    const { provider_id } = model;
    const error = currentError(model);
    const works = models.some(
      (other) => other.provider_id === provider_id && (other.last_success_at ?? 0) > (error?.at ?? 0),
    );
    return error?.class === 'unauthorized' && !works && !isOutdated(known, provider_id, error.at);
  });
  const failed = [...known.tests].filter(([, [newest]]) => newest?.ok === false);
  const byProvider = new Map([
    ...failed.map(([id, [test]]) => [id, t('needed.test', { id, error: test?.error ?? '' })] as const),
    ...rejected.map((model) => [model.provider_id, causeText(t, model)] as const),
  ]);
  return [...byProvider]
    .filter(([id]) => !named.has(id))
    .map(([id, text]) => ({
      id: `provider/${id}`,
      tone: 'error',
      text: redactText(text),
      links: [{ text: t('open.provider'), href: providerHref(id) }],
    }));
};

const serverNeeds = (t: T, { servers }: Known): Problem[] =>
  servers
    .filter(({ status }) => !status.connected)
    .map(({ id, status: { permanently_failed: isDown, last_error: error } }) => ({
      id: `mcp/${id}`,
      tone: isDown ? 'error' : 'warn',
      text: redactText(t(isDown ? 'needed.mcpDown' : 'needed.mcp', { id, error: error ?? '' })),
      links: [{ text: t('open.server'), href: `/mcp-servers/${encodeURIComponent(id)}` }],
    }));

/** Notes require no action. */
const referenceNeeds = (t: T, { diagnostics }: Known): Problem[] =>
  diagnostics
    .filter(({ severity }) => severity === 'error' || severity === 'warning')
    .map((found) => ({ ...problemOf(found, t), code: undefined }));

export const knownOf = (known: Known, agent: string): Known => ({
  ...known,
  agents: known.agents.filter(({ agent_id }) => agent_id === agent),
  waiting: known.waiting.filter(({ agent_id }) => agent_id === agent),
  diagnostics: known.diagnostics.filter(
    ({ resource: { namespace, id } }) => namespace === 'agents' && id === agent,
  ),
  servers: [],
  tests: new Map(),
});

const SEVERITY: readonly string[] = ['error', 'warn'];

export const needsIn = (t: T, known: Known): Problem[] => {
  const agents = agentNeeds(t, known);
  const waiting = known.waiting.filter(waitsForDecision).length;
  return [
    ...agents,
    ...providerNeeds(t, known, new Set(agents.map(({ provider }) => provider))),
    ...(waiting > 0
      ? [
          {
            id: 'waiting',
            tone: 'warn' as const,
            text: t('needed.waiting', { count: waiting }),
            links: [{ text: t('open.inbox'), href: '/inbox' }],
          },
        ]
      : []),
    ...serverNeeds(t, known),
    ...referenceNeeds(t, known),
  ].sort((a, b) => SEVERITY.indexOf(a.tone) - SEVERITY.indexOf(b.tone));
};

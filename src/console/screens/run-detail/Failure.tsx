import { currentError } from '../../activity/stats.ts';
import { useResource } from '../../data/queries.ts';
import { redactText } from '../../data/redact-text.ts';
import { runtimeStats } from '../../data/resources.ts';
import { buttonLook } from '../../design/Button.tsx';
import { Notice } from '../../design/Notice.tsx';
import { useTexts } from '../../i18n/locale.ts';
import type { Values } from '../../i18n/texts.ts';
import { ScreenLink } from '../../navigation/links.tsx';
import { type Run, reasonOf } from '../../run-records/run.ts';
import { notableSpan, type Span, shortError, toolName } from '../../run-view/span.ts';
import { type Advice, adviceFor } from './advice.ts';
import texts from './texts.json' with { type: 'json' };

const FAILED: ReadonlySet<string> = new Set(['error', 'blocked', 'stopped']);

/** The provider whose last inference for the agent failed, unless there are several. */
const useFailingProvider = (agentId: string, isWanted: boolean): string | undefined => {
  const agents = useResource(runtimeStats, isWanted).data?.agents ?? [];
  const models = agents.find(({ agent_id }) => agent_id === agentId)?.inferences_by_model ?? [];
  const failing = new Set(models.filter(currentError).map(({ provider_id }) => provider_id));
  return isWanted && failing.size === 1 ? [...failing][0] : undefined;
};

const hrefOf = ({ screen }: Advice, run: Run): string =>
  screen === 'agent' ? `/agents/${encodeURIComponent(run.agent_id)}` : `/${screen}`;

type Title = { text: keyof typeof texts; values: Values };

const titleOf = (span: Span | undefined, end: string): Title => {
  if (!span) return { text: end === 'stopped' ? 'failure.stopped' : 'failure.run', values: {} };
  const values = { step: span.step + 1, count: span.attempt ?? 1, name: toolName(span.name).name };
  if (span.kind === 'tool') return { text: 'failure.tool', values };
  return { text: values.count > 1 ? 'failure.attempts' : 'failure.inference', values };
};

/** Whether the page explains the end of the run. */
export const endedEarly = (run: Run): boolean =>
  run.status === 'done' && FAILED.has(reasonOf(run)?.kind ?? '');

/** Why a run ended early: the step that failed, the error, and the next thing to do. */
export const Failure = ({ run, spans }: { run: Run; spans: readonly Span[] }) => {
  const t = useTexts(texts);
  const reason = reasonOf(run);
  const advice = adviceFor(reason?.kind ?? '', reason?.detail ?? '');
  const provider = useFailingProvider(run.agent_id, endedEarly(run) && advice.screen === 'providers');
  if (!reason || !endedEarly(run)) return null;
  const found = reason.kind === 'error' ? notableSpan(spans, true) : undefined;
  const span = found?.hasFailed ? found : undefined;
  const isStopped = reason.kind === 'stopped';
  // A stop has a code, which the chip of the state writes in the same way.
  const error = isStopped ? reason.detail.replaceAll('_', ' ') : redactText(shortError(reason.detail));
  const title = titleOf(span, reason.kind);
  return (
    <Notice
      tone={isStopped ? 'warn' : 'error'}
      title={`${t(title.text, title.values)}: ${error || t('failure.unknown')}`}
      actions={
        <ScreenLink
          to={
            provider === undefined ? hrefOf(advice, run) : `/providers?edit=${encodeURIComponent(provider)}`
          }
          className={buttonLook}
        >
          {provider === undefined ? t(`open.${advice.screen}`) : t('open.provider', { provider })}
        </ScreenLink>
      }
    >
      {t(`advice.${advice.text}`)}
    </Notice>
  );
};

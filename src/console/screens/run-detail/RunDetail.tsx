import { useParams } from '@tanstack/react-router';
import { type KeyboardEvent, useMemo, useState } from 'react';
import { redactText } from '../../data/redact-text.ts';
import { CopyButton } from '../../design/Copy.tsx';
import { Page } from '../../design/Layout.tsx';
import { Loaded } from '../../design/Loaded.tsx';
import { Ago, useNow } from '../../design/Time.tsx';
import type { LogEvent } from '../../events/event.ts';
import { useFormat, useTexts } from '../../i18n/locale.ts';
import { useQueryState } from '../../list/use-query-state.ts';
import { RunChip, RunLink, RunReason, shortId } from '../../runs/RunChip.tsx';
import { durationOf, isOpen, type Run, threadHref } from '../../runs/run.ts';
import { ScreenLink } from '../../shell/links.tsx';
import { Actions } from './Actions.tsx';
import { Events } from './Events.tsx';
import { Lifecycle } from './Lifecycle.tsx';
import { Parts } from './Parts.tsx';
import css from './RunDetail.module.css';
import { State } from './State.tsx';
import { Talk } from './Talk.tsx';
import { Tickets } from './Tickets.tsx';
import { Timeline } from './Timeline.tsx';
import { texts } from './texts.ts';
import { Usage } from './Usage.tsx';
import { usageOf } from './usage.ts';
import { useRun, type Whole } from './use-run.ts';
import { useTrace } from './use-trace.ts';

const TABS = ['timeline', 'parts', 'events', 'conversation', 'state', 'usage'] as const;
type Tab = (typeof TABS)[number];

const Tabs = ({ tab, onChange }: { tab: Tab; onChange: (tab: Tab) => void }) => {
  const t = useTexts(texts);
  const move = (event: KeyboardEvent): void => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    const next = step && TABS[(TABS.indexOf(tab) + step + TABS.length) % TABS.length];
    if (!next) return;
    event.preventDefault();
    onChange(next);
    document.getElementById(`tab-${next}`)?.focus();
  };
  return (
    <div className={css.tabs} role="tablist" aria-label={t('tabs')}>
      {TABS.map((each) => (
        <button
          key={each}
          type="button"
          role="tab"
          id={`tab-${each}`}
          aria-selected={each === tab}
          aria-controls={each === tab ? `panel-${each}` : undefined}
          tabIndex={each === tab ? 0 : -1}
          onClick={() => onChange(each)}
          onKeyDown={move}
        >
          {t(`tab.${each}`)}
        </button>
      ))}
    </div>
  );
};

const Fact = (props: { label: string; title?: string | undefined; children: React.ReactNode }) => (
  <div className={css.fact} title={props.title}>
    <dt>{props.label}</dt>
    <dd>{props.children}</dd>
  </div>
);

/** The log tells milliseconds, the record seconds. */
const tookOf = (run: Run, events: readonly LogEvent[], now: number): number => {
  const began = events.find(({ event_kind }) => event_kind === 'RunStarted')?.created_at;
  if (began === undefined) return durationOf(run, now) * 1000;
  const last = isOpen(run) ? now : (events.at(-1)?.created_at ?? began);
  return Math.max(0, last - began);
};

const FactLine = ({ run, events }: { run: Run; events: readonly LogEvent[] }) => {
  const t = useTexts(texts);
  const format = useFormat();
  const now = useNow();
  const adapter = run.activation?.trace?.adapter;
  return (
    <dl className={css.facts}>
      <Fact label={t('fact.agent')}>
        <ScreenLink to={`/agents/${encodeURIComponent(run.agent_id)}`}>{run.agent_id}</ScreenLink>
      </Fact>
      <Fact label={t('fact.thread')}>
        <ScreenLink to={threadHref(run.thread_id)} title={run.thread_id}>
          <code>{shortId(run.thread_id)}</code>
        </ScreenLink>
      </Fact>
      {run.parent_run_id !== undefined && (
        <Fact label={t('fact.parent')}>
          <RunLink id={run.parent_run_id} />
        </Fact>
      )}
      {adapter && (
        <Fact label={t('fact.came')}>
          <code>{adapter}</code>
        </Fact>
      )}
      <Fact label={t('fact.began')}>
        <Ago at={run.started_at ?? run.created_at} />
      </Fact>
      <Fact label={t('fact.took')}>
        {isOpen(run)
          ? format.seconds(tookOf(run, events, now) / 1000)
          : format.duration(tookOf(run, events, now))}
      </Fact>
      <Fact label={t('fact.steps')}>{format.number(run.steps)}</Fact>
      {run.output_repairs !== undefined && (
        <Fact label={t('fact.repairs')} title={t('fact.repairsNote')}>
          {format.number(run.output_repairs)}
        </Fact>
      )}
      <Fact label={t('fact.tokens')}>
        {format.compact(run.input_tokens)} / {format.compact(run.output_tokens)}
      </Fact>
      {run.cut_off && (
        <Fact label={t('fact.cutOff')} title={t('fact.cutOffNote')}>
          ≈ {format.compact(run.cut_off.input_tokens)} / {format.compact(run.cut_off.output_tokens)}
        </Fact>
      )}
      <Fact label={t('fact.cost')} title={t(run.cost_usd === undefined ? 'fact.noPrice' : 'fact.costNote')}>
        {run.cost_usd === undefined ? t('fact.na') : format.usd(run.cost_usd)}
      </Fact>
      {run.resolution_id !== undefined && (
        <Fact label={t('fact.configuration')}>
          <code>{run.resolution_id}</code>
        </Fact>
      )}
    </dl>
  );
};

const Result = ({ run }: { run: Run }) => {
  const t = useTexts(texts);
  if (run.structured_output === undefined) return null;
  const text = redactText(JSON.stringify(run.structured_output, null, 2));
  return (
    <details className={css.result}>
      <summary>{t('result')}</summary>
      <CopyButton text={text} label={t('result.copy')} />
      <pre>{text}</pre>
    </details>
  );
};

const Shown = ({ run, whole }: { run: Run; whole: Whole }) => {
  const { log, course } = whole;
  const [query, setQuery] = useQueryState();
  const [at, setAt] = useState<number>();
  const usage = useMemo(() => usageOf(log.events), [log.events]);
  const trace = useTrace(run);
  const tab = TABS.find((each) => each === query.tab) ?? 'timeline';
  const newest = course.moments.at(-1)?.seq;
  return (
    <>
      <div className={css.what}>
        <RunChip run={run} />
        <RunReason run={run} />
        <span className={css.id}>
          {run.run_id} <CopyButton text={run.run_id} />
        </span>
      </div>
      <FactLine run={run} events={log.events} />
      <Result run={run} />
      <Tickets run={run} />
      <div className={css.columns}>
        <Lifecycle run={run} course={course} events={log.events} at={at} onGo={setAt} />
        <section className={css.panel}>
          <Tabs tab={tab} onChange={(next) => setQuery({ tab: next === 'timeline' ? undefined : next })} />
          <div role="tabpanel" id={`panel-${tab}`} aria-labelledby={`tab-${tab}`} className={css.body}>
            {tab === 'timeline' && (
              <Timeline run={run} events={log.events} trace={trace.events} at={at} onGo={setAt} />
            )}
            {tab === 'parts' && <Parts events={log.events} at={at} />}
            {tab === 'events' && <Events log={log} at={at} onGo={setAt} />}
            {tab === 'conversation' && (
              <Talk
                run={run}
                newest={newest}
                until={at === undefined ? undefined : (course.moments[at - 1]?.seq ?? 0)}
              />
            )}
            {tab === 'state' && <State run={run} events={log.events} at={at} />}
            {tab === 'usage' && <Usage usage={usage} costUsd={run.cost_usd} />}
          </div>
        </section>
      </div>
    </>
  );
};

const ActionsOf = ({ run }: { run: Run }) => <Actions run={run} isTraced={useTrace(run).isThere} />;

const OneRun = ({ id }: { id: string }) => {
  const t = useTexts(texts);
  const whole = useRun(id);
  return (
    <Page
      title={t('title', { id: shortId(id) })}
      actions={whole.query.data && <ActionsOf run={whole.query.data} />}
    >
      <Loaded query={whole.query}>{(run) => <Shown run={run} whole={whole} />}</Loaded>
    </Page>
  );
};

export default function RunDetail() {
  const { id = '' } = useParams({ strict: false });
  return <OneRun key={id} id={id} />;
}

import { useParams } from '@tanstack/react-router';
import { type ReactNode, useMemo, useState } from 'react';
import { isObject } from '../../data/guard.ts';
import { redactText } from '../../data/redact-text.ts';
import { CopyButton } from '../../design/Copy.tsx';
import { Page } from '../../design/Layout.tsx';
import { Loaded } from '../../design/Loaded.tsx';
import { Segmented } from '../../design/Segmented.tsx';
import { Ago, useNow } from '../../design/Time.tsx';
import type { LogEvent } from '../../event-log/event.ts';
import { useFormat, useTexts } from '../../i18n/locale.ts';
import { useQueryState } from '../../list/use-query-state.ts';
import { ScreenLink } from '../../navigation/links.tsx';
import { useCourse } from '../../run-course/use-course.ts';
import { RunChip, RunLink, RunReason, shortId } from '../../run-records/RunChip.tsx';
import { durationOf, isOpen, type Run, threadHref } from '../../run-records/run.ts';
import { RunView } from '../../run-view/RunView.tsx';
import { useRunLog, useStory, useTrace } from '../../run-view/story.ts';
import { textIn } from '../../thread-messages/messages.ts';
import { Actions } from './Actions.tsx';
import { Events } from './Events.tsx';
import { endedEarly, Failure } from './Failure.tsx';
import { Lifecycle } from './Lifecycle.tsx';
import { Requests } from './Requests.tsx';
import css from './RunDetail.module.css';
import { Scrubber } from './Scrubber.tsx';
import { Talk } from './Talk.tsx';
import { Tickets } from './Tickets.tsx';
import texts from './texts.json' with { type: 'json' };

const TABS = ['timeline', 'events', 'conversation', 'requests'] as const;

/** Only clients of OpenAI know a run by the ids of their requests. */
const tabsOf = ({ activation }: Run) =>
  TABS.filter((tab) => tab !== 'requests' || activation?.trace?.adapter === 'openai');

/** Prefers the log, which has milliseconds, over the record, which has seconds. */
const tookOf = (run: Run, events: readonly LogEvent[], now: number): number => {
  const began = events.find(({ event_kind }) => event_kind === 'RunStarted')?.created_at;
  if (began === undefined) return durationOf(run, now) * 1000;
  const last = isOpen(run) ? now : (events.at(-1)?.created_at ?? began);
  return Math.max(0, last - began);
};

const ADAPTERS = ['internal', 'ai_sdk', 'ag_ui', 'a2a', 'mcp', 'acp', 'openai'] as const;

const Source = ({ run }: { run: Run }) => {
  const t = useTexts(texts);
  const { adapter = '', origin = '' } = run.activation?.trace ?? {};
  if (origin === 'subagent') return t('source.subagent');
  const known = ADAPTERS.find((each) => each === adapter);
  return known ? t(`source.${known}`) : adapter || '—';
};

/** The changes of the agent up to the start of the run. */
const auditHref = ({ agent_id, created_at }: Run): string => {
  const until = new Date((created_at + 1) * 1000).toISOString();
  return `/audit-log?resource=${encodeURIComponent(`agents/${agent_id}`)}&until=${encodeURIComponent(until)}`;
};

type FactRow = readonly [label: string, value: ReactNode, title?: string];

const useFacts = (run: Run, events: readonly LogEvent[]): FactRow[] => {
  const t = useTexts(texts);
  const format = useFormat();
  const took = tookOf(run, events, useNow());
  const { parent_run_id, output_repairs, cut_off, cost_usd, resolution_id } = run;
  return [
    [
      t('common.agent'),
      <ScreenLink key="agent" to={`/agents/${encodeURIComponent(run.agent_id)}`}>
        {run.agent_id}
      </ScreenLink>,
    ],
    [
      t('common.thread'),
      <ScreenLink key="thread" to={threadHref(run.thread_id)} title={run.thread_id}>
        <code>{shortId(run.thread_id)}</code>
      </ScreenLink>,
    ],
    [t('fact.parent'), parent_run_id !== undefined && <RunLink key="parent" id={parent_run_id} />],
    [t('fact.source'), <Source key="source" run={run} />],
    [t('common.started'), <Ago key="started" at={run.started_at ?? run.created_at} />],
    [t('fact.duration'), isOpen(run) ? format.seconds(took / 1000) : format.duration(took)],
    [t('fact.steps'), format.number(run.steps)],
    [t('fact.repairs'), output_repairs !== undefined && format.number(output_repairs), t('fact.repairsNote')],
    [t('fact.tokens'), `${format.compact(run.input_tokens)} / ${format.compact(run.output_tokens)}`],
    [
      t('fact.cutOff'),
      cut_off && `≈ ${format.compact(cut_off.input_tokens)} / ${format.compact(cut_off.output_tokens)}`,
      t('fact.cutOffNote'),
    ],
    [
      t('common.cost'),
      cost_usd === undefined ? '—' : format.usd(cost_usd),
      t(cost_usd === undefined ? 'fact.noPrice' : 'fact.costNote'),
    ],
    [
      t('fact.configuration'),
      resolution_id && (
        <ScreenLink key="configuration" to={auditHref(run)}>
          {resolution_id}
        </ScreenLink>
      ),
    ],
  ];
};

const FactLine = (props: { run: Run; events: readonly LogEvent[] }) => (
  <dl className={`card row inset ${css.facts}`}>
    {useFacts(props.run, props.events).map(
      ([label, value, title]) =>
        value && (
          <div key={label} title={title}>
            <dt>{label}</dt>
            <dd>{value}</dd>
          </div>
        ),
    )}
  </dl>
);

type Log = ReturnType<typeof useRunLog>['log'];

const Shown = ({ run, log }: { run: Run; log: Log }) => {
  const t = useTexts(texts);
  const [query, setQuery] = useQueryState();
  const [at, setAt] = useState<number>();
  const course = useCourse(log.events);
  const story = useStory(run, log.events);
  const tabs = tabsOf(run);
  const tab = tabs.find((each) => each === query.tab) ?? 'timeline';
  return (
    <>
      <div className="row">
        <RunChip run={run} />
        {!endedEarly(run) && <RunReason run={run} />}
        <span className="row quiet mono push">
          {run.run_id} <CopyButton text={run.run_id} />
        </span>
      </div>
      <Failure run={run} spans={story.spans} />
      <FactLine run={run} events={log.events} />
      <Tickets run={run} />
      <RunView
        story={story}
        at={at}
        isLinked
        head={
          <div className="bar">
            <Segmented
              label={t('tabs')}
              value={tab}
              options={tabs.map((each) => [each, t(`tab.${each}`)] as const)}
              onChange={(next) => setQuery({ tab: next === 'timeline' ? undefined : next })}
            />
            <Scrubber events={log.events} at={at} onGo={setAt} />
          </div>
        }
        content={
          tab !== 'timeline' && (
            <div style={{ minHeight: 300 }}>
              {tab === 'events' && <Events log={log} at={at} onGo={setAt} />}
              {tab === 'requests' && <Requests run={run} />}
              {tab === 'conversation' && (
                <Talk
                  run={run}
                  newest={course.moments.at(-1)?.seq}
                  until={at === undefined ? undefined : (course.moments[at - 1]?.seq ?? 0)}
                />
              )}
            </div>
          )
        }
        aside={<Lifecycle run={run} course={course} at={at} />}
      />
    </>
  );
};

const ActionsOf = ({ run }: { run: Run }) => <Actions run={run} isTraced={useTrace(run).isThere} />;

const LONGEST_TITLE = 80;

/** The beginning of the input, which identifies a run better than its id. */
const inputOf = (events: readonly LogEvent[]): string => {
  const first = events.find(
    ({ event_kind, payload }) => event_kind === 'MessageCommitted' && payload.role === 'user',
  );
  const blocks = first?.payload.content_blocks;
  const content = (Array.isArray(blocks) ? blocks : []).flatMap((block) => (isObject(block) ? [block] : []));
  const text = redactText(textIn({ content }).replaceAll(/\s+/g, ' ').trim());
  return text.length > LONGEST_TITLE ? `${text.slice(0, LONGEST_TITLE)}…` : text;
};

const OneRun = ({ id }: { id: string }) => {
  const t = useTexts(texts);
  const { query, log } = useRunLog(id);
  const title = useMemo(() => inputOf(log.events), [log.events]);
  return (
    <Page
      title={title || t('title', { id: shortId(id) })}
      actions={query.data && <ActionsOf run={query.data} />}
    >
      <Loaded query={query}>{(run) => <Shown run={run} log={log} />}</Loaded>
    </Page>
  );
};

export default function RunDetail() {
  const { id = '' } = useParams({ strict: false });
  return <OneRun key={id} id={id} />;
}

import { type ReactNode, useMemo, useState } from 'react';
import { isObject } from '../data/guard.ts';
import { useResource } from '../data/queries.ts';
import { redactText } from '../data/redact-text.ts';
import { Chip } from '../design/Chip.tsx';
import { Diff } from '../design/Diff.tsx';
import { Json } from '../design/Json.tsx';
import { Facts, Section } from '../design/Layout.tsx';
import { Notice, SkeletonRows } from '../design/Notice.tsx';
import { useNow } from '../design/Time.tsx';
import { useFormat, useTexts } from '../i18n/locale.ts';
import { Chart } from '../live-charts/Chart.tsx';
import { litBy } from '../live-charts/chart.ts';
import { useCharts } from '../live-charts/charts.ts';
import { Frame, SMALLEST_COMPACT } from '../live-charts/Frame.tsx';
import { momentOf } from '../live-charts/path.ts';
import { ScreenLink } from '../navigation/links.tsx';
import { createWays, machines } from '../run-course/machine.ts';
import { deciderIn } from '../run-records/decider.ts';
import { runHref } from '../run-records/run.ts';
import { InferencePanel } from './InferencePanel.tsx';
import { type Part, partAt, partsOf, stepsOf } from './parts.ts';
import css from './RunView.module.css';
import { isWaiting, type Span, toolName, waitedIn } from './span.ts';
import type { Story } from './story.ts';
import texts from './texts.json' with { type: 'json' };
import { Usage } from './Usage.tsx';

/** The details of the selected span. */

const useWays = (machine: Part['machine']) => {
  const found = useResource(machines).data?.find(({ name }) => name === machine);
  return useMemo(() => found && createWays(found), [found]);
};

/** A call or a dispatch in the chart of its machine, with the path so far. */
const PartChart = ({ part, at }: { part: Part; at: number }) => {
  const t = useTexts(texts);
  const charts = useCharts(part.machine);
  const ways = useWays(part.machine);
  const chart = charts?.compact.at(-1);
  if (charts === undefined) return <SkeletonRows rows={4} />;
  const now = partAt(part, at);
  if (!chart || !now) return <Notice title={t('common.noChart')}>{null}</Notice>;
  const steps = ways ? stepsOf(part, now.moves, ways) : [];
  const { passed } = momentOf(chart, { steps, state: [] }, undefined);
  return (
    <div style={{ height: 360 }} data-testid="part-statechart" data-state={now.state}>
      <Frame
        size={chart}
        smallest={SMALLEST_COMPACT}
        focus={chart.states.find(({ path }) => path === now.state)}
        bar={<code>{now.state}</code>}
      >
        <Chart
          chart={chart}
          label={`${t('common.statechart')}: ${now.state}`}
          lit={litBy(chart, [now.state])}
          passed={passed}
        />
      </Frame>
    </div>
  );
};

const isPlain = (value: unknown): boolean => typeof value !== 'object' || value === null;

/** The data of a result: a text, the fields of a flat object, or JSON. */
const Data = ({ value, label }: { value: unknown; label: string }) => {
  if (typeof value === 'string') return <pre className="well mono">{redactText(value)}</pre>;
  const rows = isObject(value) ? Object.entries(value) : [];
  if (rows.length > 0 && rows.every(([, each]) => isPlain(each))) {
    return <Facts rows={rows.map(([name, each]) => [name, redactText(String(each ?? '—'))] as const)} />;
  }
  return <Json value={value} label={label} />;
};

const Folded = ({ title, children }: { title: string; children: () => ReactNode }) => {
  const [isOpen, setOpen] = useState(false);
  return (
    <details className="section" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{title}</summary>
      {isOpen && children()}
    </details>
  );
};

/** The call or the dispatch of a span in its chart. */
const ChartOf = ({ story, id, at }: { story: Story; id: unknown; at: number | undefined }) => {
  const t = useTexts(texts);
  const part = useMemo(() => partsOf(story.events).find((each) => each.id === id), [story.events, id]);
  if (!part) return null;
  return (
    <Folded title={t('common.statechart')}>
      {() => <PartChart part={part} at={at ?? story.events.length} />}
    </Folded>
  );
};

const shotsIn = ({ events }: Story) =>
  events.flatMap(({ event_kind, payload }, at) =>
    event_kind === 'StateSnapshotObserved' ? [{ at, snapshot: payload.snapshot }] : [],
  );

/** A change of the state of the run, between two snapshots that the service has captured. */
const StateChange = ({ story, isOf }: { story: Story; isOf: (at: number) => boolean }) => {
  const t = useTexts(texts);
  const shots = useMemo(() => shotsIn(story), [story]);
  const found = shots.findIndex(({ at }) => isOf(at));
  if (found < 0) return null;
  return (
    <Section title={t('state.change')}>
      <Diff before={shots[found - 1]?.snapshot} after={shots[found]?.snapshot} />
    </Section>
  );
};

/** The state that the run keeps in addition to its conversation. */
const State = ({ story, at }: { story: Story; at: number | undefined }) => {
  const t = useTexts(texts);
  const shots = useMemo(() => shotsIn(story), [story]);
  const past = shots.filter((shot) => at === undefined || shot.at < at);
  const state = at === undefined ? story.run?.state : past.at(-1)?.snapshot;
  return (
    <>
      <StateChange story={story} isOf={(shot) => shot === past.at(-1)?.at} />
      {state !== undefined && state !== null && (
        <Folded title={t('common.state')}>{() => <Json value={state} label={t('common.state')} />}</Folded>
      )}
      {shots.length === 0 && story.run && <p className="quiet">{t('state.notCaptured')}</p>}
    </>
  );
};

/** The decision on the call, its actor and the reason. */
const decisionIn = ({ decision }: Span['detail']) =>
  (['action', 'decided_by', 'reason'] as const).flatMap((name) => {
    if (!isObject(decision)) return [];
    const value = name === 'decided_by' ? deciderIn(decision) : decision[name];
    return typeof value === 'string' && value !== '' ? [[name, redactText(value)] as const] : [];
  });

const ToolPanel = ({ story, span, at }: { story: Story; span: Span; at: number | undefined }) => {
  const t = useTexts(texts);
  const format = useFormat();
  const now = useNow();
  const { detail, callId } = span;
  const result = isObject(detail.result) && 'status' in detail.result ? detail.result : undefined;
  const data = result ? result.data : (detail.call_result ?? detail.result);
  const waited = waitedIn(span, now);
  const executed = span.to === undefined ? undefined : span.to - span.from - waited;
  return (
    <>
      {span.childRunId !== undefined && (
        <ScreenLink to={runHref(span.childRunId)}>{t('tool.child')}</ScreenLink>
      )}
      {waited > 0 && (
        <Facts
          rows={[
            [t('tool.waited'), format.duration(waited)],
            [t('tool.executed'), executed === undefined ? '—' : format.duration(executed)],
            ...decisionIn(detail).map(([name, value]) => [t(`decision.${name}`), value] as const),
          ]}
        />
      )}
      <Section title={t('common.input')}>
        <Data value={detail.arguments ?? detail.call_arguments} label={t('common.input')} />
      </Section>
      {!isWaiting(span) && data !== undefined && data !== null && (
        <Section title={t('tool.result')}>
          <Data value={data} label={t('tool.result')} />
        </Section>
      )}
      <StateChange story={story} isOf={(shot) => shot > span.event} />
      <ChartOf story={story} id={callId} at={at} />
      <Folded title={t('view.raw')}>{() => <Json value={detail} label={t('view.raw')} />}</Folded>
    </>
  );
};

/** The run itself, and a link for the run of a delegate. */
const RunPanel = ({ story, at, isOwn }: { story: Story; at: number | undefined; isOwn: boolean }) => {
  const t = useTexts(texts);
  const { run, spans } = story;
  return (
    <>
      {!isOwn && <ScreenLink to={runHref(story.id)}>{t('common.openRun')}</ScreenLink>}
      <Usage spans={spans} costUsd={run?.cost_usd} />
      {run?.structured_output !== undefined && (
        <Section title={t('run.result')}>
          <Data value={run.structured_output} label={t('run.result')} />
        </Section>
      )}
      <State story={story} at={at} />
    </>
  );
};

const Content = (props: { story: Story; span: Span; at: number | undefined; isOwn: boolean }) => {
  const t = useTexts(texts);
  const { story, span, at } = props;
  switch (span.kind) {
    case 'run':
      return <RunPanel story={story} at={at} isOwn={props.isOwn} />;
    case 'inference':
      return <InferencePanel story={story} span={span} />;
    case 'tool':
      return <ToolPanel story={story} span={span} at={at} />;
    case 'queue':
      return (
        <>
          <ChartOf story={story} id={span.detail.dispatch_id} at={at} />
          <Json value={span.detail} label={t('view.raw')} />
        </>
      );
    default:
      return <Json value={span.detail} label={t('view.raw')} />;
  }
};

export const SpanPanel = (props: {
  story: Story;
  span: Span;
  at: number | undefined;
  /** The story is that of the page. */
  isOwn: boolean;
}) => {
  const t = useTexts(texts);
  const { span } = props;
  const { name, server, agent } = span.kind === 'tool' ? toolName(span.name) : { name: span.name };
  const kind = t(agent === undefined ? `span.${span.kind}` : 'span.delegate');
  return (
    <section className="card clip" aria-label={t('panel')} data-testid="span-panel">
      <header className={`bar ${css.panelHead}`}>
        <h2>
          <span className={`quiet fixed ${css.kind}`}>{kind}</span> <code>{name}</code>
        </h2>
        {server !== undefined && <Chip>{server}</Chip>}
        {span.attempt !== undefined && <Chip>{t('attempt', { attempt: span.attempt })}</Chip>}
        {span.hasFailed && <Chip tone="error">{t('failed')}</Chip>}
      </header>
      <div className={`stack ${css.panelBody}`} key={span.id}>
        {span.hasFailed && span.error && span.kind !== 'run' && (
          <Notice tone="error" title={redactText(span.error)} />
        )}
        <Content {...props} />
      </div>
    </section>
  );
};

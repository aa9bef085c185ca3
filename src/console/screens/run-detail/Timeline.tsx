import { useVirtualizer } from '@tanstack/react-virtual';
import { type CSSProperties, useMemo, useRef, useState } from 'react';
import { useResource } from '../../data/queries.ts';
import { Json } from '../../design/Json.tsx';
import { EmptyState } from '../../design/Notice.tsx';
import { Scroller } from '../../design/Scroller.tsx';
import { Segmented } from '../../design/Segmented.tsx';
import { useNow } from '../../design/Time.tsx';
import type { LogEvent } from '../../events/event.ts';
import { useFormat, useTexts } from '../../i18n/locale.ts';
import { durationOf, isOpen, type Run, runHref } from '../../runs/run.ts';
import { ScreenLink } from '../../shell/links.tsx';
import type { TraceEvent } from '../../trace/traces.ts';
import { childRuns } from './children.ts';
import { type Line, linesOf, placeOf, type Range, rangeOf, refined, type Span, spansOf } from './spans.ts';
import css from './Timeline.module.css';
import { texts } from './texts.ts';

const ZOOMS = [1, 2, 4, 8] as const;

const childSpan = (child: Run, now: number): Child => {
  const from = (child.started_at ?? child.created_at) * 1000;
  return {
    id: child.run_id,
    kind: 'delegate',
    name: child.agent_id,
    step: 0,
    from,
    to: isOpen(child) ? undefined : from + durationOf(child, now) * 1000,
    hasFailed: child.termination_reason?.type === 'error',
    isCritical: false,
    event: -1,
    href: runHref(child.run_id),
  };
};

const ROW = 28;
const HEADING = 25;

const Row = ({
  span,
  top,
  href,
  range,
  now,
  isChosen,
  onChoose,
}: {
  span: Span;
  top: number;
  href: string | undefined;
  range: Range;
  now: number;
  isChosen: boolean;
  onChoose: () => void;
}) => {
  const t = useTexts(texts);
  const format = useFormat();
  const { left, width } = placeOf(span, range, now);
  const took = span.to === undefined ? t('timeline.running') : format.duration(span.to - span.from);
  const said = `${t(`span.${span.kind}`)} ${span.name}`;
  const place: CSSProperties = { left: `${left * 100}%`, width: `max(3px, ${width * 100}%)` };
  return (
    <li
      className={css.row}
      data-kind={span.kind}
      data-failed={span.hasFailed || undefined}
      style={{ transform: `translateY(${top}px)` }}
    >
      <span className={css.name}>
        <span className={css.kind}>{t(`span.${span.kind}`)}</span>
        {href ? <ScreenLink to={href}>{span.name}</ScreenLink> : <span title={span.name}>{span.name}</span>}
      </span>
      <button
        type="button"
        className={css.track}
        aria-pressed={isChosen}
        aria-label={`${said}, ${took}`}
        title={`${said}\n${format.clock(span.from)} · ${took}`}
        disabled={span.event < 0}
        onClick={onChoose}
      >
        <span className={css.bar} style={place} data-critical={span.isCritical || undefined} />
      </button>
      <span className={css.took}>{took}</span>
    </li>
  );
};

type Child = Span & { href: string };
type Shown = Line | { span: Child };

/** The heading of what other agents did for it. */
const DELEGATES: Line = { step: Number.POSITIVE_INFINITY };

const isSpan = (line: Shown | undefined): line is { span: Span | Child } =>
  line !== undefined && 'span' in line;

/** What the run spent its time with: a bar each, nested by the steps. */
export const Timeline = ({
  run,
  events,
  trace,
  at,
  onGo,
}: {
  run: Run;
  events: readonly LogEvent[];
  trace: readonly TraceEvent[] | undefined;
  at: number | undefined;
  onGo: (at: number) => void;
}) => {
  const t = useTexts(texts);
  const now = useNow();
  const [zoom, setZoom] = useState<number>(1);
  const shown = useMemo(() => events.slice(0, at ?? events.length), [events, at]);
  const children = useResource(childRuns(run)).data;
  const spans = useMemo(() => {
    const found = spansOf(shown);
    return trace && at === undefined ? refined(found, trace) : found;
  }, [shown, trace, at]);
  const delegates = useMemo(() => (children ?? []).map((child) => childSpan(child, now)), [children, now]);
  const lines = useMemo(() => linesOf(spans), [spans]);
  const [chosen, choose] = useState<string>();
  const frame = useRef<HTMLElement>(null);
  const whole = useMemo(
    (): readonly Shown[] =>
      delegates.length === 0 ? lines : [...lines, DELEGATES, ...delegates.map((span) => ({ span }))],
    [lines, delegates],
  );
  const virtual = useVirtualizer({
    count: whole.length,
    getScrollElement: () => frame.current,
    estimateSize: (index) => (isSpan(whole[index]) ? ROW : HEADING),
    overscan: 12,
  });
  if (spans.length === 0) return <EmptyState title={t('timeline.none')}>{t('timeline.noneText')}</EmptyState>;
  const range = rangeOf([...spans, ...delegates], now);
  const detail = at === undefined ? undefined : spans.find(({ id }) => id === chosen);
  return (
    <div className={css.timeline} data-testid="run-timeline">
      <div className={css.head}>
        <span>{t('timeline.critical')}</span>
        <Segmented
          label={t('timeline.zoom')}
          value={String(zoom)}
          options={ZOOMS.map((each) => [String(each), `${each}×`] as const)}
          onChange={(value) => setZoom(Number(value))}
          isLabelShown
        />
      </div>
      <Scroller ref={frame} label={t('tab.timeline')} className={css.frame}>
        <ol className={css.steps} style={{ width: `${zoom * 100}%`, height: virtual.getTotalSize() }}>
          {virtual.getVirtualItems().map(({ index, start }) => {
            const line = whole[index];
            if (!line) return null;
            if (isSpan(line)) {
              const { span } = line;
              return (
                <Row
                  key={span.id}
                  span={span}
                  top={start}
                  href={'href' in span ? span.href : undefined}
                  range={range}
                  now={now}
                  isChosen={at === span.event + 1 && span.id === chosen}
                  onChoose={() => {
                    choose(span.id);
                    onGo(span.event + 1);
                  }}
                />
              );
            }
            const heading = line === DELEGATES ? t('span.delegate') : t('timeline.step', { step: line.step });
            return (
              <li
                key={`step ${line.step}`}
                className={css.step}
                style={{ transform: `translateY(${start}px)` }}
              >
                <h3>{heading}</h3>
              </li>
            );
          })}
        </ol>
      </Scroller>
      {detail?.detail && (
        <div className={css.detail}>
          <Json value={detail.detail} label={`${t(`span.${detail.kind}`)} ${detail.name}`} />
        </div>
      )}
    </div>
  );
};

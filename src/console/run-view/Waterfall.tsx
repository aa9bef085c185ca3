import { useVirtualizer } from '@tanstack/react-virtual';
import { type CSSProperties, type KeyboardEvent, useRef, useState } from 'react';
import { redactText } from '../data/redact-text.ts';
import { IconButton } from '../design/Button.tsx';
import { Chip, type Tone } from '../design/Chip.tsx';
import { EmptyState } from '../design/Notice.tsx';
import { PlacedRows } from '../design/PlacedRows.tsx';
import { Scroller } from '../design/Scroller.tsx';
import { Segmented } from '../design/Segmented.tsx';
import { useNow } from '../design/Time.tsx';
import { useFormat, useTexts } from '../i18n/locale.ts';
import css from './RunView.module.css';
import { isWaiting, placeOf, type Range, rangeOf, type Span, toolName, waitedIn } from './span.ts';
import { type Story, useRunLog, useStory } from './story.ts';
import texts from './texts.json' with { type: 'json' };

/** The spans of a run as rows of bars. */

const ZOOMS = ['1', '2', '4', '8'] as const;
const ROW = 28;
const TICKS = [0, 0.5] as const;

/** Runs of delegates are expanded initially if there are at most this many. */
const FEW = 3;

const hasFew = ({ spans }: Story): boolean =>
  spans.filter(({ childRunId }) => childRunId !== undefined).length <= FEW;

/** Most rows of a delegate; its own page shows all. */
const MOST_NESTED = 200;

/** A span of the run or of one of its delegates. */
export type Selected = { story: Story; id: string };

type Shared = {
  range: Range;
  now: number;
  selected: Selected | undefined;
  onSelect: (selected: Selected) => void;
  rowTestId: string | undefined;
};

/** The duration, or what the span does now. */
const useTook = (): ((span: Span, now: number) => string) => {
  const t = useTexts(texts);
  const format = useFormat();
  return (span, now) => {
    if (span.to !== undefined) return format.duration(span.to - span.from - waitedIn(span, now));
    const time = format.seconds(Math.max(0, now - (span.waits.at(-1)?.from ?? span.from)) / 1000);
    if (span.kind === 'run') return time;
    return isWaiting(span) ? t('waiting', { time }) : t('running');
  };
};

const useName = (): ((span: Span) => string) => {
  const t = useTexts(texts);
  return ({ kind, name, attempt }) => {
    const attempted = attempt === undefined ? '' : ` · ${t('attempt', { attempt })}`;
    return `${kind === 'tool' ? toolName(name).name : name}${attempted}`.replace(/^ · /, '');
  };
};

/** The bar of a span: hatched while it waits. */
const Bar = ({ span, range, now }: { span: Span; range: Range; now: number }) => {
  const place = (from: number, to: number | undefined): CSSProperties => {
    const { left, width } = placeOf({ from, to }, range, now);
    return { left: `${left * 100}%`, width: `max(3px, ${width * 100}%)` };
  };
  const parts: { from: number; to: number | undefined; waits: boolean }[] = [];
  let from = span.from;
  for (const wait of span.waits) {
    if (wait.from > from) parts.push({ from, to: wait.from, waits: false });
    parts.push({ ...wait, waits: true });
    from = wait.to ?? now;
  }
  const ends = span.to ?? (isWaiting(span) ? from : now);
  if (ends > from || parts.length === 0) parts.push({ from, to: span.to, waits: false });
  // An execution that is shorter than its wait stays visible above it.
  parts.sort((a, b) => Number(b.waits) - Number(a.waits));
  return parts.map((part) => (
    <span
      key={`${part.from} ${part.waits}`}
      className={css.bar}
      data-waits={part.waits || undefined}
      data-critical={span.isCritical || undefined}
      style={place(part.from, part.to)}
    />
  ));
};

const TONES: Partial<Record<Span['kind'], Tone>> = { inference: 'info', tool: 'agent' };

const Row = (
  props: Shared & { story: Story; span: Span; depth: number; isLater: boolean; toggle?: Toggle },
) => {
  const t = useTexts(texts);
  const format = useFormat();
  const name = useName()(props.span);
  const { span, range, now, selected, toggle } = props;
  const took = useTook()(span, now);
  const { server, agent } = span.kind === 'tool' ? toolName(span.name) : {};
  const kind = t(agent === undefined ? `span.${span.kind}` : 'span.delegate');
  const indent = (props.depth + span.depth) * 16 + 14;
  const error = redactText(span.error ?? '');
  const failure = span.hasFailed && (error || t('failed'));
  const label = [`${kind} ${name}`.trim(), server, failure, took].filter(Boolean).join(', ');
  return (
    <div className="sheet" data-tone={span.hasFailed ? 'error' : TONES[span.kind]}>
      <span className={css.indent} style={{ width: indent }}>
        {toggle && (
          <IconButton
            small
            icon={toggle.isOpen ? 'chevronDown' : 'chevronRight'}
            label={t(toggle.isOpen ? 'collapse' : 'expand', { name })}
            aria-expanded={toggle.isOpen}
            onClick={toggle.onToggle}
          />
        )}
      </span>
      <button
        type="button"
        className={css.line}
        data-span
        data-later={props.isLater || undefined}
        aria-pressed={selected?.id === span.id && selected.story.id === props.story.id}
        aria-label={label}
        title={`${label}\n${format.clock(span.from)}`}
        onClick={() => props.onSelect({ story: props.story, id: span.id })}
      >
        <span className="row nowrap clip" style={{ paddingLeft: indent }}>
          <span className={`quiet fixed ${css.kind}`}>{kind}</span>{' '}
          {name !== '' && <span className={`mono cut ${css.title}`}>{name}</span>}{' '}
          {server !== undefined && <Chip title={t('server', { server })}>{server}</Chip>}{' '}
          {failure && <span className="bad cut">{failure}</span>}{' '}
        </span>
        <span className={css.track}>
          <Bar span={span} range={range} now={now} />
        </span>
        <span className="small number">{took}</span>
      </button>
    </div>
  );
};

type Toggle = { isOpen: boolean; onToggle: () => void };

/** The run of a delegate below the call that started it. */
const Nested = ({ id, depth, ...shared }: Shared & { id: string; depth: number }) => {
  const t = useTexts(texts);
  const { query, log } = useRunLog(id);
  if (query.data === undefined) {
    return <p className="quiet">{t(query.error ? 'nested.failed' : 'nested.reading')}</p>;
  }
  return <NestedRows run={query.data} events={log.events} depth={depth} {...shared} />;
};

const NestedRows = ({
  run,
  events,
  depth,
  ...shared
}: Shared & {
  run: Parameters<typeof useStory>[0];
  events: Parameters<typeof useStory>[1];
  depth: number;
}) => {
  const story = useStory(run, events);
  const spans = story.spans.slice(0, MOST_NESTED);
  return (
    <ol>
      {spans.map((span) => (
        <li key={span.id}>
          <SpanRow
            story={story}
            span={span}
            depth={depth}
            isLater={false}
            isFew={hasFew(story)}
            {...shared}
          />
        </li>
      ))}
    </ol>
  );
};

/** A row, and below that of a delegate the rows of its run. */
const SpanRow = ({
  isFew,
  ...props
}: Shared & { story: Story; span: Span; depth: number; isLater: boolean; isFew: boolean }) => {
  const { span, story, depth, isLater, ...shared } = props;
  const [isOpen, setOpen] = useState(isFew);
  const child = story.run && span.childRunId;
  return (
    <>
      <div data-testid={shared.rowTestId}>
        <Row {...props} {...(child && { toggle: { isOpen, onToggle: () => setOpen(!isOpen) } })} />
      </div>
      {child && isOpen && <Nested id={child} depth={depth + span.depth + 1} {...shared} />}
    </>
  );
};

const move = (event: KeyboardEvent<HTMLElement>): void => {
  const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
  const rows = [...event.currentTarget.querySelectorAll<HTMLElement>('[data-span]')];
  const row = step && rows[rows.findIndex((each) => each.matches(':focus')) + step];
  if (!row) return;
  event.preventDefault();
  row.focus();
};

const Ruler = ({ range }: { range: Range }) => {
  const format = useFormat();
  return (
    <div className={`${css.line} ${css.ruler}`} aria-hidden="true">
      <span />
      <span className={css.track}>
        {TICKS.map((share) => (
          <span key={share} style={{ left: `${share * 100}%` }}>
            {format.duration((range.to - range.from) * share)}
          </span>
        ))}
        <span data-end>{format.duration(range.to - range.from)}</span>
      </span>
    </div>
  );
};

export const Waterfall = (props: {
  story: Story;
  /** Number of events up to the selected moment; undefined for all. Later rows are dimmed. */
  at?: number | undefined;
  selected: Selected | undefined;
  onSelect: (selected: Selected) => void;
  /** Minimum length of the axis in milliseconds, so that two runs have the same scale. */
  length?: number | undefined;
  rowTestId?: string;
}) => {
  const t = useTexts(texts);
  const now = useNow();
  const { story, at, length = 0 } = props;
  const { spans } = story;
  const [zoom, setZoom] = useState<string>('1');
  const frame = useRef<HTMLElement>(null);
  const virtual = useVirtualizer<HTMLElement, Element>({
    count: spans.length,
    getScrollElement: () => frame.current,
    estimateSize: () => ROW,
    getItemKey: (index) => spans[index]?.id ?? index,
    overscan: 12,
  });
  if (spans.length === 0) return <EmptyState title={t('none')}>{t('noneText')}</EmptyState>;
  const own = rangeOf(spans, now);
  const range = { from: own.from, to: Math.max(own.to, own.from + length) };
  const isFew = hasFew(story);
  const { selected, onSelect, rowTestId } = props;
  const shared = { range, now, selected, onSelect, rowTestId };
  return (
    <div className={css.waterfall} data-testid="run-timeline">
      <div className="bar spread quiet">
        <span>{t('legend')}</span>
        <Segmented
          label={t('zoom')}
          value={zoom}
          options={ZOOMS.map((each) => [each, `${each}×`] as const)}
          onChange={setZoom}
          isLabelShown
        />
      </div>
      <Scroller ref={frame} label={t('timeline')} className={css.frame}>
        {/* biome-ignore lint/a11y/noStaticElementInteractions: the rows are buttons; keys move between them */}
        <div style={{ minWidth: `${Number(zoom) * 100}%` }} onKeyDown={move}>
          <Ruler range={range} />
          <PlacedRows virtual={virtual}>
            {(index) => {
              const span = spans[index];
              const isLater = at !== undefined && span !== undefined && span.event >= at;
              return (
                span && (
                  <SpanRow story={story} span={span} depth={0} isLater={isLater} isFew={isFew} {...shared} />
                )
              );
            }}
          </PlacedRows>
        </div>
      </Scroller>
    </div>
  );
};

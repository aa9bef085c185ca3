import { useParams } from '@tanstack/react-router';
import { useVirtualizer } from '@tanstack/react-virtual';
import { useMemo, useRef, useState } from 'react';
import { statusOf } from '../../data/error.ts';
import { useResource } from '../../data/queries.ts';
import { Button, buttonLook } from '../../design/Button.tsx';
import { Json } from '../../design/Json.tsx';
import { Page } from '../../design/Layout.tsx';
import { Loaded, LoadedById } from '../../design/Loaded.tsx';
import { EmptyState } from '../../design/Notice.tsx';
import { Scroller } from '../../design/Scroller.tsx';
import { FixtureButton } from '../../fixtures/FixtureDialog.tsx';
import { useFormat, useTexts } from '../../i18n/locale.ts';
import { useQueryState } from '../../list/use-query-state.ts';
import { shortId } from '../../runs/RunChip.tsx';
import { runHref, runOf } from '../../runs/run.ts';
import { ScreenLink } from '../../shell/links.tsx';
import { NoSuch } from '../../shell/NoSuch.tsx';
import { TRACE_ROW, TraceRow } from '../../trace/TraceRow.tsx';
import { type Span, spanOf, type TraceEvent, tokensOf, tracedRuns, traceEvents } from '../../trace/traces.ts';
import css from './Traces.module.css';
import { texts } from './texts.ts';

const ANY_TRACE = tracedRuns({}, 1);

const Events = ({ events, span }: { events: readonly TraceEvent[]; span: Span }) => {
  const t = useTexts(texts);
  const format = useFormat();
  const [chosen, choose] = useState<number>();
  const event = chosen === undefined ? undefined : events[chosen];
  const { input, output } = useMemo(() => tokensOf(events), [events]);
  const frame = useRef<HTMLElement>(null);
  const virtual = useVirtualizer({
    count: events.length,
    getScrollElement: () => frame.current,
    estimateSize: () => TRACE_ROW,
    overscan: 12,
  });
  if (events.length === 0) return <EmptyState title={t('one.none')}>{null}</EmptyState>;
  return (
    <>
      <p className={css.counted}>
        {t('one.events', { count: events.length })} ·{' '}
        {t('one.tokens', { input: format.number(input), output: format.number(output) })} ·{' '}
        {format.duration(span.to - span.from)}
      </p>
      <Scroller ref={frame} label={t('title')} className={css.events}>
        <ol className={css.sheet} style={{ height: virtual.getTotalSize() }}>
          {virtual.getVirtualItems().map(({ index, start }) => {
            const each = events[index];
            return (
              each && (
                <TraceRow
                  key={index}
                  event={each}
                  span={span}
                  top={start}
                  isChosen={chosen === index}
                  onChoose={() => choose(chosen === index ? undefined : index)}
                />
              )
            );
          })}
        </ol>
      </Scroller>
      {event && (
        <div className={css.detail}>
          <Json value={event} label={t('one.detail', { type: event.type })} />
        </div>
      )}
    </>
  );
};

/** As long as the longer one, so that bars of the same length took the same time. */
const alike = (own: Span, other: Span | undefined): Span => {
  const length = Math.max(own.to - own.from, other ? other.to - other.from : 0);
  return { from: own.from, to: own.from + length };
};

/** Only some runs are observed. */
const Untraced = ({ id }: { id: string }) => {
  const t = useTexts(texts);
  const run = useResource(runOf(id));
  if (statusOf(run.error) === 404) {
    return <NoSuch title={t('one.missing', { id })} to="/traces" all={t('one.all')} />;
  }
  return (
    <Loaded query={run}>
      {() => (
        <EmptyState
          title={t('one.unobserved')}
          actions={
            <ScreenLink to={runHref(id)} className={buttonLook}>
              {t('one.run')}
            </ScreenLink>
          }
        >
          {t('one.unobservedText')}
        </EmptyState>
      )}
    </Loaded>
  );
};

const OneTrace = ({ id, beside }: { id: string; beside: string | undefined }) => {
  const t = useTexts(texts);
  const query = useResource(traceEvents(id));
  const other = useResource(traceEvents(beside ?? ''), beside !== undefined).data;
  return (
    <section className={css.trace} aria-label={t('one', { id: shortId(id) })}>
      <header className={css.traceHead}>
        <code title={id}>{shortId(id)}</code>
        {query.data && (
          <>
            <ScreenLink to={runHref(id)}>{t('one.run')}</ScreenLink>
            <span className={css.push} />
            <FixtureButton runId={id} />
          </>
        )}
      </header>
      <LoadedById query={query} list={ANY_TRACE} unknown={<Untraced id={id} />}>
        {(events) => <Events events={events} span={alike(spanOf(events), other && spanOf(other))} />}
      </LoadedById>
    </section>
  );
};

export default function Trace() {
  const t = useTexts(texts);
  const { id = '' } = useParams({ strict: false });
  const [address, setQuery] = useQueryState();
  const beside = address.with;
  return (
    <Page
      title={t('one', { id: shortId(id) })}
      {...(beside !== undefined && { purpose: `${t('one.beside')} ${shortId(beside)}` })}
      actions={
        beside !== undefined && (
          <Button onClick={() => setQuery({ with: undefined })}>{t('one.alone')}</Button>
        )
      }
    >
      <div className={css.pair} data-two={beside !== undefined || undefined}>
        <OneTrace key={id} id={id} beside={beside} />
        {beside !== undefined && <OneTrace key={beside} id={beside} beside={id} />}
      </div>
    </Page>
  );
}

import { useVirtualizer } from '@tanstack/react-virtual';
import { useDeferredValue, useEffect, useMemo, useRef, useState } from 'react';
import { Chip, type Tone } from '../../design/Chip.tsx';
import { FilterSelect } from '../../design/Field.tsx';
import { Json } from '../../design/Json.tsx';
import { EmptyState, Notice } from '../../design/Notice.tsx';
import { PlacedRows } from '../../design/PlacedRows.tsx';
import { Scroller } from '../../design/Scroller.tsx';
import type { LogEvent } from '../../event-log/event.ts';
import type { Followed } from '../../event-log/follow.ts';
import { useFormat, useTexts } from '../../i18n/locale.ts';
import { SearchBox } from '../../list/SearchBox.tsx';
import css from './Events.module.css';
import { gistOf } from './gist.ts';
import texts from './texts.json' with { type: 'json' };

const ROW = 30;

const toneOf = (kind: string): Tone => {
  if (/Errored|Rejected|TimedOut|Failed|ErrorRecorded|DeadLetter/.test(kind)) return 'error';
  if (/Suspended|Requested|Rescheduled|Cancelled|Reset|Timeout/.test(kind)) return 'warn';
  if (/^Run(Finished|Started|Resumed)/.test(kind)) return 'success';
  if (/^ToolCall/.test(kind)) return 'agent';
  if (/^Inference/.test(kind)) return 'info';
  return 'none';
};

type Placed = { event: LogEvent; at: number };

const matches = ({ event }: Placed, words: string, kind: string): boolean => {
  if (kind !== '' && event.event_kind !== kind) return false;
  if (words === '') return true;
  return `${event.event_kind} ${JSON.stringify(event.payload)}`.toLowerCase().includes(words);
};

const STATE_TONES = { reading: 'none', live: 'success', cut: 'warn', over: 'none', failed: 'error' } as const;

/** All events of a run. The selected event determines the moment that the whole screen shows. */
export const Events = (props: { log: Followed; at: number | undefined; onGo: (at: number) => void }) => {
  const { log, at, onGo } = props;
  const t = useTexts(texts);
  const format = useFormat();
  const [q, setQ] = useState('');
  const [kind, setKind] = useState('');
  const words = useDeferredValue(q.trim().toLowerCase());
  const { events, state } = log;
  const kinds = useMemo(() => [...new Set(events.map(({ event_kind }) => event_kind))].sort(), [events]);
  const found = useMemo(
    () =>
      events.map((event, place) => ({ event, at: place + 1 })).filter((each) => matches(each, words, kind)),
    [events, words, kind],
  );
  const frame = useRef<HTMLElement>(null);
  const virtual = useVirtualizer<HTMLElement, Element>({
    count: found.length,
    getScrollElement: () => frame.current,
    estimateSize: () => ROW,
    getItemKey: (place) => found[place]?.event.event_id ?? place,
    overscan: 12,
  });
  const chosen = at === undefined ? undefined : events[at - 1];
  const index = at === undefined ? -1 : found.findIndex((each) => each.at === at);
  useEffect(() => {
    if (index >= 0) virtual.scrollToIndex(index, { align: 'auto' });
  }, [index, virtual]);
  return (
    <div className="column">
      <div className="bar">
        <SearchBox value={q} placeholder={t('events.search')} onChange={setQ} />
        <FilterSelect
          label={t('events.kind')}
          value={kind}
          options={[['', t('events.all')], ...kinds.map((each) => [each, each] as const)]}
          onChange={setKind}
        />
        <span className="quiet number">{t('events.count', { count: found.length })}</span>
        {state.name !== 'failed' && <Chip tone={STATE_TONES[state.name]}>{t(`events.${state.name}`)}</Chip>}
      </div>
      {log.wasReset && <Notice title={t('events.reset')}>{null}</Notice>}
      {found.length === 0 && state.name !== 'reading' && (
        <EmptyState title={t('events.none')}>{null}</EmptyState>
      )}
      <Scroller ref={frame} label={t('tab.events')} className={css.frame}>
        <PlacedRows virtual={virtual}>
          {(place) => {
            const each = found[place];
            if (!each) return null;
            const { event } = each;
            return (
              <button
                type="button"
                className={`item ${css.event}`}
                aria-current={each.at === at ? 'step' : undefined}
                onClick={() => onGo(each.at)}
              >
                <span className="quiet number fixed" style={{ minWidth: 32 }}>
                  {each.at}
                </span>
                <time className="small number fixed">{format.clock(event.created_at)}</time>
                <Chip tone={toneOf(event.event_kind)}>{event.event_kind}</Chip>
                <span className="small mono cut">{gistOf(event)}</span>
              </button>
            );
          }}
        </PlacedRows>
      </Scroller>
      {chosen && (
        <div className="ruled inset">
          <Json value={chosen.payload} label={chosen.event_kind} />
        </div>
      )}
    </div>
  );
};

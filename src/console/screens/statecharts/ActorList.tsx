import { useVirtualizer } from '@tanstack/react-virtual';
import { useMemo, useRef } from 'react';
import { Button } from '../../design/Button.tsx';
import { Chip } from '../../design/Chip.tsx';
import { EmptyState } from '../../design/Notice.tsx';
import { PlacedRows } from '../../design/PlacedRows.tsx';
import { Scroller } from '../../design/Scroller.tsx';
import { Ago } from '../../design/Time.tsx';
import { useTexts } from '../../i18n/locale.ts';
import { SearchBox } from '../../list/SearchBox.tsx';
import { type Actor, type Actors, isIn } from '../../live-charts/actors.ts';
import css from './Statecharts.module.css';
import texts from './texts.json' with { type: 'json' };
import type { RunWords } from './use-run-words.ts';

const ROW = 48;

export const shortId = (id: string): string => id.slice(id.indexOf(':') + 1);

type Wanted = { q: string; state: string | undefined; words: ReadonlyMap<string, RunWords> };

/** Newest first, live actors before ended ones. */
const matching = ({ live, ended }: Actors, { q, state, words }: Wanted): Actor[] => {
  const word = q.trim().toLowerCase();
  const textOf = ({ id }: Actor): string => {
    const known = words.get(id);
    return `${id} ${known?.agent ?? ''} ${known?.words ?? ''}`.toLowerCase();
  };
  const isMeant = (actor: Actor): boolean =>
    (word === '' || textOf(actor).includes(word)) && (state === undefined || isIn(actor, state));
  return [...[...live.values()].reverse(), ...[...ended.values()].reverse()].filter(isMeant);
};

type RowProps = { actor: Actor; words: RunWords | undefined; onOpen: (id: string) => void };

const Row = ({ actor, words, onOpen }: RowProps) => {
  const t = useTexts(texts);
  return (
    <button
      type="button"
      className={`double ${css.actor}`}
      data-testid={`actor-${actor.id}`}
      data-ended={actor.hasEnded || undefined}
      onClick={() => onOpen(actor.id)}
    >
      <span
        className={`mono cut ${css.actorId}`}
        title={shortId(actor.id)}
        data-words={words?.words !== undefined || undefined}
      >
        {words?.words ?? shortId(actor.id)}
      </span>
      <span className="row nowrap quiet">
        {words && <span className={`cut ${css.actorAgent}`}>{words.agent}</span>}
        <span className="soft mono cut fill">{actor.state.join(' ')}</span>
        {actor.isAtRest && <Chip tone="warn">{t('actor.atRest')}</Chip>}
        {actor.hasEnded && <Chip>{t('actor.ended')}</Chip>}
        <Ago at={actor.since} />
      </span>
    </button>
  );
};

export const ActorList = (props: {
  actors: Actors;
  q: string;
  state: string | undefined;
  words: ReadonlyMap<string, RunWords>;
  onSearch: (q: string) => void;
  onEverywhere: () => void;
  onOpen: (id: string) => void;
}) => {
  const t = useTexts(texts);
  const frame = useRef<HTMLElement>(null);
  const { actors, q, state, words } = props;
  const rows = useMemo(() => matching(actors, { q, state, words }), [actors, q, state, words]);
  const isAll = q === '' && state === undefined;
  const virtual = useVirtualizer<HTMLElement, Element>({
    count: rows.length,
    getScrollElement: () => frame.current,
    estimateSize: () => ROW,
    getItemKey: (index) => rows[index]?.id ?? index,
    overscan: 8,
  });
  return (
    <>
      <div className="bar">
        <SearchBox value={q} placeholder={t('list.search')} onChange={props.onSearch} />
        {state !== undefined && (
          <span className="row spread">
            <Chip tone="info">{t('list.in', { state })}</Chip>
            <Button small tone="quiet" onClick={props.onEverywhere}>
              {t('list.everywhere')}
            </Button>
          </span>
        )}
      </div>
      {rows.length === 0 ? (
        <EmptyState title={t(isAll ? 'list.none' : 'list.noMatch')}>{isAll && t('list.noneText')}</EmptyState>
      ) : (
        <Scroller ref={frame} label={t('list.title')} className={`scrolls ${css.actors}`}>
          <PlacedRows virtual={virtual}>
            {(index) => {
              const actor = rows[index];
              return actor && <Row actor={actor} words={words.get(actor.id)} onOpen={props.onOpen} />;
            }}
          </PlacedRows>
        </Scroller>
      )}
    </>
  );
};
